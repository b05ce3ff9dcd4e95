"""Value of every register of the supply side, in a pass of any phase."""

from __future__ import annotations

from merp.models.params.mac_array.array_pass import ArrayPass
from merp.models.params.mac_array.design import Design
from merp.models.params.mac_array.gradient_registers import GRADIENT_TABLES, gradient_registers
from merp.models.params.mac_array.gradient_run import GradientRun
from merp.models.params.mac_array.input_registers import TABLES, input_registers
from merp.models.params.mac_array.pass_run import PassRun
from merp.models.params.register_map import Setting


def supply_settings(design: Design) -> dict[str, Setting]:
    """Legal ranges and meanings, by the same names."""
    return {
        name: setting
        for table in (*TABLES, *GRADIENT_TABLES)
        for name, setting in table.settings(design).items()
    }


def supply_registers(work: ArrayPass, design: Design) -> dict[str, int]:
    """Values by the flattened names of the ports; of those that the phase does not use the least.

    Raises:
        ValueError: the design cannot run the pass; the message says why.
    """
    least = {name: setting.least for name, setting in supply_settings(design).items()}
    if work.phase == "upsample":
        return least
    if work.phase != "ku":
        return least | input_registers(PassRun(work, design))
    run = GradientRun(work, design)
    shared = {
        "supply_config_walk_update": 1,
        "supply_config_rows_level": run.vertical.level,
        "supply_config_columns_level": run.horizontal.level,
    }
    return least | gradient_registers(run) | shared
