"""A layer in the pipeline: the kind of its cut, and the work of one image."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from merp.models.network.network import Layer, Network
from merp.models.network.phases import PHASES, has_phase


@dataclass(frozen=True)
class LayerStage:
    """A layer with the phases that all its FPGAs run concurrently.

    The layer of the images is cut by output maps (OFP), because it has too few input maps. All
    other layers are cut by input maps (IFP). source: FPDeep section III.A
    """

    layer: Layer
    phases: tuple[str, ...]

    @property
    def by_outputs(self) -> bool:
        """Whether the layer is cut by output maps; such a layer has no delta propagation."""
        return "dp" not in self.phases

    @property
    def maps(self) -> int:
        """Number of maps that can be distributed, in all groups."""
        shape = self.layer.shape
        return self.layer.groups * (shape.m if self.by_outputs else shape.n)

    @property
    def taps(self) -> int:
        """DSPs of the smallest unit, which processes one window per cycle."""
        return self.layer.shape.taps

    @property
    def macs(self) -> int:
        """Multiply-adds of one image in one phase."""
        return self.layer.operations() // 2

    @property
    def work(self) -> int:
        """Multiply-adds of one image in all phases."""
        return len(self.phases) * self.macs

    def dsps(self, maps: int, interval: int) -> int:
        """Return the DSPs that process ``maps`` maps in at most ``interval`` cycles per image.

        Each phase has its own units of ``taps`` DSPs.
        """
        windows = maps * self.macs // self.maps // self.taps
        return len(self.phases) * self.taps * -(-windows // interval)

    def most_maps(self, dsps: int, interval: int) -> int:
        """Return the most maps that ``dsps`` DSPs process in ``interval`` cycles per image."""
        units = dsps // (len(self.phases) * self.taps)
        return min(self.maps, units * interval * self.taps * self.maps // self.macs)


def stages(network: Network, layers: Iterable[Layer]) -> tuple[LayerStage, ...]:
    """Return the stages of ``layers``, in order."""
    return tuple(
        LayerStage(layer, tuple(phase for phase in PHASES if has_phase(network, layer, phase)))
        for layer in layers
    )
