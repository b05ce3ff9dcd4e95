"""Two levels of reconfiguration: registers within a design, a bitstream between designs.

CNN-MERP section VI: each kernel size and each phase has its own bitstream.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from itertools import pairwise

from merp.models.network.network import Network
from merp.models.network.phases import NAMED, ONE_PASS
from merp.models.network.step_passes import layer_passes

MAX_BATCH = 1 << 16

SHARES = (0.11, 0.05, 0.01)
"""Shares of the time for loads, whose batches are given; the first one is that of the paper."""


PROPAGATING = ("dp", ONE_PASS)
"""Phases that propagate a delta; a layer has one of them."""

UPDATING = (ONE_PASS, "ku")
"""Phases that output new kernels; a layer has one of them."""


def passes(network: Network, phases: Collection[str] = NAMED) -> list[tuple[str, str]]:
    """Return design and phase of each pass, in that order."""
    return [(str(layer.design), phase) for layer, phase in layer_passes(network, phases)]


def bitstreams(order: list[tuple[str, str]]) -> int:
    """Return the bitstreams loaded in one step of a loop over ``order``, including the first one.

    With a single design and phase nothing is loaded.
    """
    changes = sum(a != b for a, b in pairwise(order))
    return changes + (bool(order) and order[0] != order[-1])


def least_batch(share: float, overhead: float, seconds: Callable[[int], float]) -> int | None:
    """Return the smallest even batch at which ``overhead`` is at most ``share`` of the time.

    ``seconds`` is the computing time of a batch, and grows with it. None beyond ``MAX_BATCH``.
    """

    def enough(batch: int) -> bool:
        return overhead <= share * (overhead + seconds(batch))

    if not enough(MAX_BATCH):
        return None
    low, high = 0, MAX_BATCH // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(2 * middle) else (middle, high)
    return 2 * high
