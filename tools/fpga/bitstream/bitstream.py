"""A bitstream: a design in a phase, and the layers that run on it.

CNN-MERP section VI: a kernel size and a phase need a bitstream; the sizes of a layer are in
registers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from merp.cosim.machines.loader import phase_of
from merp.cosim.phases.phase import HardwarePhase
from merp.models.base.errors import BadInput
from merp.models.base.given import mention
from merp.models.base.names import folder_name, identifier
from merp.models.network.machine import CycleCount
from merp.models.network.network import Layer, Network
from merp.models.network.phases import has_phase, lacks, phase_on
from merp.models.network.registry import cycles_of
from merp.models.network.step_passes import layer_passes


@dataclass(frozen=True, kw_only=True)
class Bitstream:
    """A design in a phase.

    Attributes:
        network: network with its designs.
        design: name of a design.
        phase: the phase on the design.
        layers: the layers that run on it, in the network's order.
        state: whether forward propagation also writes ReLU/pooling masks for backward propagation.
        before: whether deltas are stored at pooled resolution and expanded in front of the engine.
    """

    network: Network
    design: str
    phase: HardwarePhase
    layers: tuple[Layer, ...]
    state: bool = False
    before: bool = False

    @property
    def name(self) -> str:
        """Name of the folder."""
        return folder_name(self.network.name, self.design, self.phase.name)

    @property
    def entity(self) -> str:
        """Name of the VHDL entity; unique across packages."""
        return identifier("merp", self.network.name, self.design, self.phase.name)

    def cycles(self, layer: Layer, images: int) -> CycleCount | None:
        """Return modelled cycles of all groups.

        None if deltas are expanded in front of the engine.
        """
        return None if self.before else cycles_of(self.network, layer, self.phase.name, images)


def bitstream_of(
    network: Network, layer: Layer, phase: str, *, state: bool = False, before: bool = False
) -> Bitstream:
    """Return the bitstream that runs ``layer`` in ``phase``.

    Raises:
        BadInput: the layer has no design, is the first one (which propagates no delta), or does not
            support one backward pass.
    """
    network.design(layer)  # raises BadInput if there is none
    if not has_phase(network, layer, phase):
        raise BadInput(f"{mention('phase', phase)}: {lacks(network, layer, phase)}")
    layers = tuple(
        each
        for each in network.layers
        if each.design == layer.design and has_phase(network, each, phase)
    )
    assert layer.design is not None
    before = before or phase_on(network, layer, phase).combined
    return Bitstream(
        network=network,
        design=layer.design,
        phase=phase_of(network, layer, phase, state=state, before=before),
        layers=layers,
        state=state,
        before=before,
    )


def schedule(network: Network, **choice: bool) -> Iterator[tuple[Bitstream, Layer]]:
    """Yield bitstream and layer of each pass of a training step, in order."""
    for layer, phase in layer_passes(network):
        yield bitstream_of(network, layer, phase, **choice), layer
