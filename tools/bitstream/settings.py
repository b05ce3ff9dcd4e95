"""A register map and the values of a layer's pass, of whatever architecture."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Final

from merp.cosim.architectures import phase_of
from merp.models.architectures import computing_in
from merp.models.errors import BadInput
from merp.models.given import mention, name_of
from merp.models.network.network import Network
from merp.models.network.network_keys import SEPARATE
from merp.models.network.phases import PHASES, called, fusing, going_back_for, has_phase, lacks
from merp.models.params.cnn_merp.sizing import check_fits
from merp.models.params.register_map import RegisterMap
from merp.testbenches.axi.axi_top import axi_registers_of
from merp.tools.bitstream.bitstream import bitstream_of
from merp.tools.bitstream.engines import engine_of
from merp.tools.bitstream.options import check_options


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What registers are asked of.

    Attributes:
        layer, phase: None where they are not said. images: of a run.
        state: forward propagation also writes it. delta_at: where deltas lie, if that is said.
    """

    layer: str | None
    phase: str | None
    images: int
    state: bool
    delta_at: str | None


@dataclass(frozen=True, kw_only=True)
class Settings:
    """A register map, and the values of a pass.

    Attributes:
        layer, phase: of the pass; None of none. values: by register; none of no pass.
    """

    layer: str | None
    phase: str | None
    registers: RegisterMap
    values: Mapping[str, int]


def _cnn_merp(network: Network, asked: Asked) -> Settings:
    if asked.layer is None:
        raise BadInput(f"--layer: {network.name} has a design for each kind of layer: give one")
    network, name, phase = fusing(network, asked.layer, asked.phase or "fp")
    network = going_back_for(network, phase)
    layer = network.layer(name)
    before = check_options(network, phase, asked.state, asked.delta_at)
    check_fits(layer.shape, asked.images, network.design(layer), f"{network.name}: {layer.name}")
    bitstream = bitstream_of(network, layer, phase, state=asked.state, before=before)
    return Settings(
        layer=called(network, layer, phase),
        phase=phase,
        registers=axi_registers_of(bitstream.phase.top()),
        values=bitstream.phase.registers(layer, asked.images),
    )


def _mac_array(network: Network, asked: Asked) -> Settings:
    where = f"{network.name} runs on mac_array"
    if asked.state:
        raise BadInput(f"{name_of('state')}: {where}, where it stays on the chip: allowed without")
    if asked.phase not in (None, *PHASES):
        raise BadInput(f"{mention('phase', asked.phase)}: {where}: allowed: {', '.join(PHASES)}")
    if asked.layer is None:
        for name in ("phase", "delta_at"):
            if (value := getattr(asked, name)) is not None:
                raise BadInput(f"{mention(name, value)}: of which layer? give --layer L")
        registers = axi_registers_of(engine_of(network, None, None).top())
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


SETTINGS: Final[Mapping[str, Callable[[Network, Asked], Settings]]] = {
    "cnn_merp": _cnn_merp,
    "mac_array": _mac_array,
}
"""By architecture."""


def settings_of(network: Network, asked: Asked) -> Settings:
    """The registers of what runs a layer, and their values.

    Raises:
        BadInput: nothing runs it so.
    """
    return SETTINGS[computing_in(network.numbers)](network, asked)
