"""A pipeline: all engines of a network at once, and the stores between them (one bitstream)."""

from __future__ import annotations

from dataclasses import dataclass

from merp.models.params.cnn_merp.design import Design
from merp.models.params.cnn_merp.unpool_design import UnpoolDesign


@dataclass(frozen=True, kw_only=True)
class SliceDesign:
    """Elaboration of one layer: an engine for each phase, and what waits in front of them.

    Attributes:
        forward, update: engines. propagation, undone: of a layer that propagates a delta, its
            engine, and un-pooling behind it; None in the first.
        joint: words of the FIFO in front of an engine that takes them as they come.
        features: words of the store of input maps, from which the update takes them.
        states: bytes of the store of the state of the layer in front; 0 in the first.
    """

    forward: Design
    update: Design
    propagation: Design | None
    undone: UnpoolDesign | None
    joint: int
    features: int
    states: int


@dataclass(frozen=True, kw_only=True)
class PipelineDesign:
    """Elaboration of a network as a pipeline.

    Attributes:
        slices: of its layers, in order; the first has no propagation, all others have one.
        depth: images on their way at most. max_images: of a run.
        max_words: map words of an image. max_leaving: deltas of the first layer's sums of one.
        max_losses: deltas of the last layer's sums of a run.
    """

    slices: tuple[SliceDesign, ...]
    depth: int
    max_images: int
    max_words: int
    max_leaving: int
    max_losses: int
