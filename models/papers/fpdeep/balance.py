"""Weights that do not fit where they are used, kept by FPGAs with room and carried along the chain.

source: FPDeep section III.B, and data paths 3 and 6 of III.C
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from merp.models.base.ordered_sum import ordered_sum
from merp.models.papers.fpdeep.links import BoardLink


@dataclass(frozen=True)
class KeptKernels:
    """Kernel elements that FPGA ``keeper`` keeps, with their gradients, for FPGA ``user``."""

    user: int
    keeper: int
    words: float


def balanced(
    weights: Mapping[int, float], others: Mapping[int, float], capacity: float
) -> list[KeptKernels]:
    """Return what is kept elsewhere; it may be less than what does not fit.

    Those that lack most choose first, each the nearest FPGA that has room.

    Args:
        weights: kernel elements of each FPGA, whose gradients are as many again.
        others: words of each for anything else.
        capacity: words of an FPGA.
    """
    spare = {node: capacity - others[node] - 2 * words for node, words in weights.items()}
    kept = []
    for user in sorted(spare, key=spare.__getitem__):
        for keeper in sorted(spare, key=lambda node: (abs(node - user), node)):
            words = min(-spare[user] / 2, spare[keeper] / 2, weights[user])
            if words > 0:
                kept.append(KeptKernels(user, keeper, words))
                spare[user] += 2 * words
                spare[keeper] -= 2 * words
    return kept


def with_weights(borders: Iterable[BoardLink], kept: Iterable[KeptKernels]) -> list[BoardLink]:
    """Return the borders where weights and gradients of every image cross, too.

    Weights go from keeper to user, gradients back.
    """
    moved = tuple(kept)
    return [_crossed(border, moved) for border in borders]


def _crossed(border: BoardLink, kept: Iterable[KeptKernels]) -> BoardLink:
    words = ordered_sum(
        each.words
        for each in kept
        if min(each.user, each.keeper) <= border.node < max(each.user, each.keeper)
    )
    return BoardLink(border.node, border.forward + words, border.backward + words)
