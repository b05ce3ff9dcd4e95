"""A pipeline: all engines of a network at once, and the stores between them (one bitstream)."""

from __future__ import annotations

from dataclasses import dataclass

from merp.models.machines.cnn_merp.params.delta_design import DeltaDesign
from merp.models.machines.cnn_merp.params.design import EngineDesign
from merp.models.machines.cnn_merp.params.unpool_design import UnpoolDesign


@dataclass(frozen=True, kw_only=True)
class SliceDesign:
    """Elaboration of one layer: an engine for each phase, and what waits in front of them.

    Attributes:
        forward, update: engines. propagation, undone: of a layer that propagates a delta, its
            engine, and un-pooling at it; None in the first.
        joint: words of the FIFO in front of an engine that takes them as they come.
        features: words of the store of input maps, from which the update takes them.
        states: bytes of the store of the state that un-pooling takes; 0 where there is none.
        expanded: un-pooling in front of the update, as in front of the propagation, of deltas that
            come at pooled resolution; None where those of the sums come, and un-pooling behind the
            propagation undoes the layer in front.
    """

    forward: EngineDesign
    update: EngineDesign
    propagation: EngineDesign | None
    undone: UnpoolDesign | None
    joint: int
    features: int
    states: int
    expanded: UnpoolDesign | None = None

    @property
    def delta(self) -> DeltaDesign | None:
        """Elaboration of delta propagation; None in the first layer."""
        if self.propagation is None or self.undone is None:
            return None
        return DeltaDesign(self.propagation, self.undone, before=self.expanded is not None)


@dataclass(frozen=True, kw_only=True)
class EntranceDesign:
    """Elaboration of where images come in, and where the loss does.

    Attributes:
        depth: images on their way at most. max_images: of a run.
        max_words: map words of an image. max_leaving: deltas of one that the first layer takes.
        max_losses: deltas of a run that the last layer takes.
    """

    depth: int
    max_images: int
    max_words: int
    max_leaving: int
    max_losses: int


@dataclass(frozen=True, kw_only=True)
class PipelineDesign(EntranceDesign):
    """Elaboration of a network as a pipeline.

    Attributes:
        slices: of its layers, in order; the first has no propagation, all others have one.
    """

    slices: tuple[SliceDesign, ...]
