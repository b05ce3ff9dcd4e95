"""All run-time registers of a pass."""

from __future__ import annotations

from merp.hdl.base.signals import Bundles
from merp.hdl.mac_array.ports.outputs import ArrayOutputConfig
from merp.hdl.mac_array.ports.registers import SupplyConfig
from merp.hdl.mac_array.ports.unpooling import ArrayUnpoolConfig
from merp.hdl.mac_array.ports.updates import ArrayUpdateConfig
from merp.models.machines.mac_array.params.design import ArrayDesign


def pass_settings(design: ArrayDesign) -> Bundles:
    """Return the registers of a pass under the names that ``trainer`` uses."""
    return Bundles(
        {
            "supply_config": SupplyConfig(design),
            "output_config": ArrayOutputConfig(design),
            "update_config": ArrayUpdateConfig(design),
            "unpool_config": ArrayUnpoolConfig(design),
        }
    )
