"""The scale of a factor: its exponent and flags, for the exponent pass of a row."""

from __future__ import annotations

from typing import Any

from myhdl import always, concat, intbv

from merp.hdl.conversion.entity import Bit, Word, entity
from merp.models.base.fused import EXPONENT_BITS, FRACTION_BITS

ZERO_AT, INFINITE_AT, NEGATIVE_AT = EXPONENT_BITS, EXPONENT_BITS + 1, EXPONENT_BITS + 2


@entity
def row_scale(clk: Bit, word: Word, scale: Word) -> Any:
    """Decode a binary32 number without its fraction.

    word   in   binary32; a subnormal counts as zero
    scale  out  from the highest bit: negative, infinite, zero, exponent field (8 bits); a NaN sets
                infinite and zero

    Latency: 1. Throughput: one per cycle. Reset: none.
    """
    special = (1 << EXPONENT_BITS) - 1
    sign_at = FRACTION_BITS + EXPONENT_BITS

    @always(clk.posedge)
    def decode() -> None:
        exponent = intbv(0)[EXPONENT_BITS:]
        exponent[:] = word[sign_at:FRACTION_BITS]
        infinite = exponent == special
        zero = exponent == 0 or (infinite and word[FRACTION_BITS:] != 0)
        scale.next = concat(word[sign_at], infinite, zero, exponent)

    return decode
