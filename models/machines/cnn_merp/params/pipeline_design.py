"""A pipeline: all engines of a network run concurrently, with stores between them (one
bitstream).
"""

from __future__ import annotations

from dataclasses import dataclass

from merp.models.machines.cnn_merp.params.delta_design import DeltaDesign
from merp.models.machines.cnn_merp.params.design import EngineDesign
from merp.models.machines.cnn_merp.params.unpool_design import UnpoolDesign


@dataclass(frozen=True, kw_only=True)
class SliceDesign:
    """Elaboration of one layer: an engine for each phase, and the stores in front of them.

    Attributes:
        forward, update: engines.
        propagation, undone: engine and un-pooling of a layer that propagates a delta; None in the
            first layer.
        joint: words of the FIFO in front of an engine without back-pressure.
        features: words of the store of input maps for the update.
        states: bytes of the store of the mask for un-pooling; 0 if there is none.
        expanded: un-pooling in front of the update, if deltas arrive at pooled resolution, as in
            front of the propagation. None if the deltas of sums arrive; un-pooling after the
            propagation then undoes the layer in front.
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
    """Elaboration of the entrance of images and of the loss's deltas.

    Attributes:
        depth: largest number of images in flight.
        max_images: of a run.
        max_words: map words of an image.
        max_leaving: deltas of an image that the first layer reads.
        max_losses: deltas of a run that the last layer reads.
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
