"""Table of tanh: quadratic polynomials in fixed point, for a binary32 between 2^-12 and 16.

An octave 2^e <= x < 2^(e+1) has ``SEGMENTS`` segments. In a segment, with u from 0 to 1:

    tanh(x) / 2^min(e, 0) = (c0 + c1 u - c2 u^2) / 2^SCALE

The polynomials interpolate both ends and the middle of their segments. Therefore they meet at the
ends, and each increases with x, as tanh does. Below 2^-12, x itself is tanh(x) to half an ulp.
"""

from __future__ import annotations

from decimal import ROUND_HALF_EVEN, Context, Decimal, localcontext
from functools import cache
from typing import NamedTuple

from merp.models.base.formats import BINARY32, FloatFormat, format_name

LOWEST, HIGHEST = -12, 3
"""Exponents of the first and last octave; above the last one, tanh rounds to 1."""

SEGMENT_BITS = 7
SEGMENTS = 1 << SEGMENT_BITS
OFFSET_BITS = BINARY32.frac_bits - SEGMENT_BITS
"""Bits of a number that select a segment, and bits of its place u in the segment."""

SCALE = 30
"""Fraction bits of a result and of c0, c1, c2."""

GUARD = 8
"""Further fraction bits of c1 - c2 u; with 5 or fewer, tanh decreases at some places."""

C0_BITS, C1_BITS, C2_BITS = 31, 24, 15
"""Bits of the coefficients; none is negative."""

TANH_LATENCY = 7
"""Cycles of the block ``tanh``."""

_EXACT = Context(prec=50, rounding=ROUND_HALF_EVEN)


class TanhTable(NamedTuple):
    """Coefficients of all segments, those of the first octave first."""

    c0: tuple[int, ...]
    c1: tuple[int, ...]
    c2: tuple[int, ...]


def check_format(fmt: FloatFormat) -> None:
    """Check that tanh is implemented in a format.

    Raises:
        ValueError: it is not binary32.
    """
    if fmt != BINARY32:
        raise ValueError(f"tanh: format {format_name(fmt)} is not allowed; allowed is binary32")


@cache
def tanh_table() -> TanhTable:
    """Compute the table in decimal arithmetic of 50 digits: it is the same on every platform."""
    c0: list[int] = []
    c1: list[int] = []
    c2: list[int] = []
    with localcontext(_EXACT):
        for exponent in range(LOWEST, HIGHEST + 1):
            halves = [_scaled_tanh(exponent, half) for half in range(2 * SEGMENTS + 1)]
            for segment in range(SEGMENTS):
                low, middle, high = halves[2 * segment : 2 * segment + 3]
                bend = _nearest(2 * (2 * middle - low - high))
                c0.append(_nearest(low))
                c1.append(_nearest(high) - c0[-1] + bend)
                c2.append(bend)
    return TanhTable(tuple(c0), tuple(c1), tuple(c2))


def _scaled_tanh(exponent: int, half: int) -> Decimal:
    """Return tanh at a half segment of an octave, in units of 2^(min(exponent, 0) - SCALE)."""
    x = Decimal(2) ** exponent * (1 + Decimal(half) / (2 * SEGMENTS))
    power = (2 * x).exp()
    return (power - 1) / (power + 1) * Decimal(2) ** (SCALE - min(exponent, 0))


def _nearest(number: Decimal) -> int:
    return int(number.to_integral_value())
