"""Weight balancing: an FPGA stores weights for another one and sends them along the chain.

It is needed for weights that do not fit the memory of the FPGA that uses them.
source: FPDeep section III.B, and data paths 3 and 6 of III.C
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from merp.models.base.ordered_sum import ordered_sum
from merp.models.papers.fpdeep.links import BoardLink


@dataclass(frozen=True)
class KeptKernels:
    """Kernel elements, with their gradients, that FPGA ``keeper`` stores for FPGA ``user``."""

    user: int
    keeper: int
    words: float


def balanced(
    weights: Mapping[int, float], others: Mapping[int, float], capacity: float
) -> list[KeptKernels]:
    """Return the weights that are stored on other FPGAs.

    If the chain has too little memory, some of the weights that do not fit are not in the result.
    The FPGA that lacks the most memory chooses first. Each FPGA chooses the nearest FPGA with free
    memory.

    Args:
        weights: kernel elements of each FPGA; it has as many gradients.
        others: words of each FPGA for other data.
        capacity: words of memory of an FPGA.
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
    """Add the weights and gradients that cross each border with every image.

    Weights are sent from the keeper to the user, and gradients in the other direction.
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
