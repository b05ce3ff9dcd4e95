"""Ranges and meanings of all registers of the array, and values of the supply side's registers."""

from __future__ import annotations

from merp.models.base.register_map import Setting
from merp.models.machines.mac_array.params.array_pass import ArrayPass
from merp.models.machines.mac_array.params.design import ArrayDesign
from merp.models.machines.mac_array.params.gradient_registers import (
    GRADIENT_TABLES,
    gradient_registers,
)
from merp.models.machines.mac_array.params.gradient_run import GradientRun
from merp.models.machines.mac_array.params.input_registers import TABLES, input_registers
from merp.models.machines.mac_array.params.output_registers import output_table
from merp.models.machines.mac_array.params.pass_run import PassRun
from merp.models.machines.mac_array.params.unpool_registers import UNPOOL
from merp.models.machines.mac_array.params.update_registers import update_table


def supply_settings(design: ArrayDesign) -> dict[str, Setting]:
    """Return range and meaning of every register of the supply side, by the name of its port."""
    return {
        name: setting
        for table in (*TABLES, *GRADIENT_TABLES)
        for name, setting in table.settings(design).items()
    }


def array_settings(design: ArrayDesign) -> dict[str, Setting]:
    """Return range and meaning of every register of the array, by the name of its port."""
    return {
        **supply_settings(design),
        **output_table(design).settings(design),
        **update_table(design).settings(design),
        **UNPOOL.settings(design),
    }


def supply_registers(work: ArrayPass, design: ArrayDesign) -> dict[str, int]:
    """Return the values of the supply side's registers, by the flattened names of their ports.

    Registers that the phase does not use have their smallest value.

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
