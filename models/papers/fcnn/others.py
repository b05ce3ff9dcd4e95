"""Modules of pooling and of fully connected layers: cycles of a minibatch."""

from __future__ import annotations

from typing import Final

SIDE: Final = 4
"""R: rows and columns of a block of a matrix product. source: V.C"""

KERNELS: Final = 24
"""Nk of both modules in table V."""

_PER_BLOCK: Final = 2  # table V's times need twice equation (15)'s cycles; it does not say why
_STREAMS: Final = 3  # inputs, outputs and results of the activation


def pool_cycles(elements: int, kernels: int) -> float:
    """Return the cycles of pooling, or of undoing it, by the elements of the larger maps."""
    return elements / kernels


def full_cycles(
    inputs: int, outputs: int, images: int, kernels: int, words_per_cycle: float, side: int = SIDE
) -> float:
    """Return the cycles of a matrix product in blocks; backward are two. source: equation (15)"""
    wait = max(1.0, _STREAMS * kernels / words_per_cycle)
    products = _whole(inputs, side) * _whole(outputs, side)
    return _PER_BLOCK * products * images / (kernels * side**2) * wait


def _whole(words: int, side: int) -> int:
    """Words with those that fill the last block up."""
    return -(-words // side) * side
