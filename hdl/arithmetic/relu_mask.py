"""ReLU mask bit of an activation, for backward propagation."""

from __future__ import annotations

from typing import Any

from myhdl import always_comb

from merp.hdl.conversion.entity import Bit, Word, entity
from merp.models.base.formats import FloatFormat
from merp.models.base.six import six_word


@entity
def relu_mask(x: Word, y: Bit, fmt: FloatFormat, relu6: Bit = None) -> Any:
    """Compute whether an element is greater than zero.

    x  in   element, before or after ReLU
    y  out  x > 0; low for a NaN, and for a subnormal, which counts as zero
    relu6  in  (in a design for ReLU6) y is 0 < x < 6

    The comparison uses integers: magnitudes are ordered like integers, and the words of negative
    elements are greater than the word of infinity. Latency: combinational. Reset: none.
    """
    smallest, infinity = 1 << fmt.frac_bits, fmt.inf

    if relu6 is None:

        @always_comb
        def compare() -> None:
            y.next = smallest <= x and x <= infinity

        return compare

    six = six_word(fmt)

    @always_comb
    def compare_both() -> None:
        y.next = smallest <= x and (x < six or (x <= infinity and not relu6))

    return compare_both
