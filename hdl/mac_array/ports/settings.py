"""All run-time registers of a pass."""

from __future__ import annotations

from merp.hdl.base.signals import Bundles
from merp.hdl.mac_array.ports.outputs import OutputConfig
from merp.hdl.mac_array.ports.registers import SupplyConfig
from merp.hdl.mac_array.ports.unpooling import UnpoolConfig
from merp.hdl.mac_array.ports.updates import UpdateConfig
from merp.models.machines.mac_array.params.design import Design


def pass_settings(design: Design) -> Bundles:
    """The registers that a pass is told by, as ``trainer`` calls them."""
    return Bundles(
        {
            "supply_config": SupplyConfig(design),
            "output_config": OutputConfig(design),
            "update_config": UpdateConfig(design),
            "unpool_config": UnpoolConfig(design),
        }
    )
