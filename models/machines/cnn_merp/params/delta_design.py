"""The parameters of delta propagation, fixed at elaboration."""

from __future__ import annotations

from typing import NamedTuple

from merp.models.machines.cnn_merp.params.design import EngineDesign
from merp.models.machines.cnn_merp.params.unpool_design import UnpoolDesign


class DeltaDesign(NamedTuple):
    """Elaboration of delta propagation.

    Attributes:
        engine: the forward engine with roles swapped.
        unpool: un-pooling and ReLU'.
        before: whether un-pooling precedes the engine, because deltas are stored at pooled
            resolution. Otherwise it follows the engine, and deltas are stored at the resolution of
            the sums.
        add_unpool: un-pooling of the start of the sums, if that is stored at pooled resolution.
    """

    engine: EngineDesign
    unpool: UnpoolDesign
    before: bool
    add_unpool: UnpoolDesign | None = None
