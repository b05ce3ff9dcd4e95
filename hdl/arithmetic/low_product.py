"""A product with few bits, from carry chains alone, next to a DSP block."""

from __future__ import annotations

from typing import Any

from myhdl import always_comb, block

from merp.hdl.base.signals import bits
from merp.hdl.conversion.entity import Word, entity


@block
def _masked(a: Word, bit: Word, y: Word) -> Any:
    """Multiply by one bit."""

    @always_comb
    def mask() -> None:
        if bit != 0:
            y.next = a
        else:
            y.next = 0

    return mask


@block
def _join(low: Word, high: Word, y: Word, shift: int) -> Any:
    @always_comb
    def add() -> None:
        y.next = low + (high << shift)

    return add


@entity
def low_product(a: Word, b: Word, y: Word) -> Any:
    """Multiply by a factor of few bits, without a DSP block.

    a  in   factor
    b  in   factor of 2, 4, 8 ... bits
    y  out  product, as wide as both factors together

    Latency: 0. Reset: none.
    """
    if len(b) < 2 or len(b) & len(b) - 1:
        raise ValueError(f"a low product takes 2, 4, 8 ... bits, not {len(b)}")
    terms = [bits(len(a)) for _ in range(len(b))]
    parts: list[Any] = [_masked(a=a, bit=b(i + 1, i), y=term) for i, term in enumerate(terms)]
    shift = 1
    while len(terms) > 1:
        sums = [bits(len(a) + 2 * shift) for _ in terms[::2]] if len(terms) > 2 else [y]
        parts += [
            _join(low=low, high=high, y=total, shift=shift)
            for low, high, total in zip(terms[::2], terms[1::2], sums, strict=True)
        ]
        terms, shift = sums, 2 * shift
    return parts
