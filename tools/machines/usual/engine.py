"""The engine that runs a layer in a phase, of any machine."""

from __future__ import annotations

from merp.models.base.errors import BadInput
from merp.models.network.network import Network
from merp.tools.fpga.bitstream.bitstream import Bitstream, bitstream_of
from merp.tools.fpga.bitstream.engines import LoadedEngine
from merp.tools.machines.usual.choose import check_phase


def of_layer(network: Network, name: str | None, phase: str | None) -> Bitstream:
    """Return the bitstream of a layer in a phase, by default in its first phase.

    Raises:
        BadInput: no layer is given, or it has no such phase.
    """
    if name is None:
        raise BadInput(f"--layer: {network.name} has a design for each kind of layer: give one")
    layer = network.layer(name)
    asked = phase or "fp"
    check_phase(network, layer, asked)
    return bitstream_of(network, layer, asked)


def engine(network: Network, layer: str | None, phase: str | None) -> LoadedEngine:
    """Return the engine that runs a layer in a phase."""
    found = of_layer(network, layer, phase)
    return LoadedEngine(
        design=found.design, layer=layer, phase=found.phase.name, top=found.phase.top, paper=None
    )
