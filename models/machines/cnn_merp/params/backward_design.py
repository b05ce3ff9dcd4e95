"""The parameters of both backward phases in one pass, fixed at elaboration."""

from __future__ import annotations

from typing import NamedTuple

from merp.models.machines.cnn_merp.params.design import EngineDesign
from merp.models.machines.cnn_merp.params.unpool_design import UnpoolDesign


class BackwardDesign(NamedTuple):
    """Elaboration of both backward phases in one pass.

    Attributes:
        propagation: of delta propagation, a forward engine with roles swapped.
        update: of the kernel update.
        unpool: un-pooling and ReLU' in front of both.
    """

    propagation: EngineDesign
    update: EngineDesign
    unpool: UnpoolDesign
