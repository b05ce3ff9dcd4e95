"""The mask of ReLU: what the way back has to know of an activation."""

from __future__ import annotations

from typing import Any

from myhdl import always_comb

from merp.hdl.conversion.entity import Bit, Word, entity
from merp.models.base.formats import FloatFormat


@entity
def relu_mask(x: Word, y: Bit, fmt: FloatFormat) -> Any:
    """Tell whether an element is greater than zero.

    x  in   element, before or after ReLU
    y  out  x > 0; not for a NaN, nor for a subnormal, which counts as zero

    Magnitudes are ordered like integers, and negative elements are beyond infinity.
    Latency: combinational. Reset: none.
    """
    smallest, infinity = 1 << fmt.frac_bits, fmt.inf

    @always_comb
    def compare() -> None:
        y.next = smallest <= x and x <= infinity

    return compare
