"""A layer in the pipeline: what of it is cut, and the work of an image."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from merp.models.network.network import Layer, Network
from merp.models.network.phases import PHASES, has_phase


@dataclass(frozen=True)
class LayerStage:
    """A layer with the phases that all its FPGAs run at once.

    A layer that takes the images is cut by output maps (OFP), as it has too few input maps; every
    other one by input maps (IFP). source: FPDeep section III.A
    """

    layer: Layer
    phases: tuple[str, ...]

    @property
    def by_outputs(self) -> bool:
        """Whether it is cut by output maps; it has no delta to propagate."""
        return "dp" not in self.phases

    @property
    def maps(self) -> int:
        """Maps among which it is cut, all groups."""
        shape = self.layer.shape
        return self.layer.groups * (shape.m if self.by_outputs else shape.n)

    @property
    def taps(self) -> int:
        """DSPs of the smallest unit: a window in a cycle."""
        return self.layer.shape.taps

    @property
    def macs(self) -> int:
        """Multiply-adds of an image in one phase."""
        return self.layer.operations() // 2

    @property
    def work(self) -> int:
        """Multiply-adds of an image in all phases."""
        return len(self.phases) * self.macs

    def dsps(self, maps: int, interval: int) -> int:
        """DSPs with which ``maps`` of its maps take at most ``interval`` cycles an image.

        Each phase has units of its own, of ``taps`` DSPs.
        """
        windows = maps * self.macs // self.maps // self.taps
        return len(self.phases) * self.taps * -(-windows // interval)

    def most_maps(self, dsps: int, interval: int) -> int:
        """Maps that so many DSPs take in ``interval`` cycles an image; all of them at most."""
        units = dsps // (len(self.phases) * self.taps)
        return min(self.maps, units * interval * self.taps * self.maps // self.macs)


def stages(network: Network, layers: Iterable[Layer]) -> tuple[LayerStage, ...]:
    """Return the stages of ``layers``, in their order."""
    return tuple(
        LayerStage(layer, tuple(phase for phase in PHASES if has_phase(network, layer, phase)))
        for layer in layers
    )
