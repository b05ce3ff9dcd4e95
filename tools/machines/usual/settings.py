"""The registers of an engine, and their values for a layer, of any machine."""

from __future__ import annotations

from merp.models.network.network import Network
from merp.testbenches.axi.axi_top import axi_registers_of
from merp.tools.fpga.bitstream.settings import RegisterQuery, Settings
from merp.tools.machines.usual.choose import check_usual
from merp.tools.machines.usual.engine import of_layer


def settings(network: Network, asked: RegisterQuery) -> Settings:
    """Return the registers of the engine that runs a layer, and their values."""
    found = of_layer(network, asked.layer, asked.phase)
    check_usual(network, state=asked.state, delta_at=asked.delta_at)
    phase = found.phase
    assert asked.layer is not None
    return Settings(
        layer=asked.layer,
        phase=phase.name,
        registers=axi_registers_of(phase.top()),
        values=phase.registers(network.layer(asked.layer), asked.images),
    )
