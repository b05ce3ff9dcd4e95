"""The registers of the MAC array, and their values for a pass."""

from __future__ import annotations

from dataclasses import replace

from merp.cosim.machines.loader import phase_of
from merp.models.base.errors import BadInput
from merp.models.base.given import mention, name_of
from merp.models.network.network import Network
from merp.models.network.network_keys import SEPARATE
from merp.models.network.phases import PHASES, has_phase, lacks
from merp.testbenches.axi.axi_top import axi_registers_of
from merp.tools.common.bitstream_options import check_options
from merp.tools.fpga.bitstream.settings import RegisterQuery, Settings
from merp.tools.machines.mac_array.engine import engine


def settings(network: Network, asked: RegisterQuery) -> Settings:
    """Return the registers of the array, and their values."""
    where = f"{network.name} runs on mac-array"
    if asked.state:
        raise BadInput(f"{name_of('state')}: {where}, which keeps the mask on the chip: omit it")
    if asked.phase not in (None, *PHASES):
        raise BadInput(f"{mention('phase', asked.phase)}: {where}: allowed: {', '.join(PHASES)}")
    if asked.layer is None:
        for name in ("phase", "delta_at"):
            if (value := getattr(asked, name)) is not None:
                raise BadInput(f"{mention(name, value)}: allowed only with --layer L")
        registers = axi_registers_of(engine(network, None, None).top())
        return Settings(layer=None, phase=None, registers=registers, values={})
    layer, name = network.layer(asked.layer), asked.phase or "fp"
    if not has_phase(network, layer, name):
        raise BadInput(f"{mention('phase', name)}: {lacks(network, layer, name)}")
    apart = replace(network, backward=SEPARATE)
    before = check_options(apart, name, asked.state, asked.delta_at)
    phase = phase_of(network, layer, name, before=before)
    return Settings(
        layer=layer.name,
        phase=name,
        registers=axi_registers_of(phase.top()),
        values=phase.registers(layer, asked.images),
    )
