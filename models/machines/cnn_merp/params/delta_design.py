"""What is fixed at elaboration of delta propagation."""

from __future__ import annotations

from typing import NamedTuple

from merp.models.machines.cnn_merp.params.design import EngineDesign
from merp.models.machines.cnn_merp.params.unpool_design import UnpoolDesign


class DeltaDesign(NamedTuple):
    """Elaboration of delta propagation.

    Attributes:
        engine: the forward engine with roles swapped. unpool: un-pooling and ReLU'.
        before: un-pooling stands before the engine, deltas are stored at pooled resolution;
            otherwise behind it, at the resolution of the sums.
        add_unpool: the same in front of what sums start at, where that comes at pooled resolution.
    """

    engine: EngineDesign
    unpool: UnpoolDesign
    before: bool
    add_unpool: UnpoolDesign | None = None
