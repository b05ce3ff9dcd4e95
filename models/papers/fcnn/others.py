"""Cycles of the modules for pooling and for fully connected layers."""

from __future__ import annotations

from typing import Final

SIDE: Final = 4
"""R: rows and columns of a block of a matrix product. source: V.C"""

KERNELS: Final = 24
"""Nk of both modules in table V."""

_PER_BLOCK: Final = 2  # table V's times need twice equation (15)'s cycles, without a reason
_STREAMS: Final = 3  # inputs, outputs and results of the activation


def pool_cycles(elements: int, kernels: int) -> float:
    """Return the cycles of pooling or un-pooling; ``elements`` are those of the larger maps."""
    return elements / kernels


def full_cycles(
    inputs: int, outputs: int, images: int, kernels: int, words_per_cycle: float, side: int = SIDE
) -> float:
    """Return the cycles of a blocked matrix product. source: equation (15)

    Backward propagation needs two products.
    """
    wait = max(1.0, _STREAMS * kernels / words_per_cycle)
    products = _whole(inputs, side) * _whole(outputs, side)
    return _PER_BLOCK * products * images / (kernels * side**2) * wait


def _whole(words: int, side: int) -> int:
    """Return the words, padded to whole blocks."""
    return -(-words // side) * side
