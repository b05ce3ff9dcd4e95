"""Widths and latencies of the kernel update in rows (page ``row_array``)."""

from __future__ import annotations

from merp.models.base import fused
from merp.models.machines.cnn_merp.params.design import EngineDesign

SCALE_BITS = fused.EXPONENT_BITS + 3  # exponent, zero, infinite, negative
CODE_BITS = 2  # of a row's infinities and NaNs

LAUNCH = 2  # from a sweep's last slot to its first column in the mantissa pass
FETCH = 1  # of a column from the row memory
PRODUCT = FETCH + fused.DECODE + fused.PRODUCT  # from a column's address to its products
SCALE = fused.DECODE + fused.PRODUCT - 1
"""Exponents wait until mantissas are multiplied, in the mantissa pass for the distance that comes
with the product. In the exponent pass they wait as long: the largest is then there no sooner than
the pass before has done with its own."""
SUMMED = PRODUCT + fused.ALIGN + 1  # from a column's address to sums that hold its products
DIFFERENCE = 2  # from held sums to a row's sum: selection, subtraction


def exponent_bits(design: EngineDesign) -> int:
    """What the mantissa pass takes of a factor beside its mantissa: its exponent.

    Of a narrow factor, whose significand has no sign, that too.
    """
    return fused.EXPONENT_BITS + int(design.summation.narrow)


def steps(design: EngineDesign) -> int:
    """Words of ``ku_lanes`` elements in a kernel's gradients, and cycles that it takes to add."""
    return -(-design.taps // design.ku_lanes)


def sum_bits(design: EngineDesign) -> int:
    """Width of the sum of a row of aligned products."""
    return design.fused_window - 1 + fused.levels(design.max_size)


def row_latency(design: EngineDesign) -> int:
    """Cycles from a sweep's last slot to the one that writes its last gradients, at longest.

    The mantissa pass of max_size columns, the sums held, taken one word after the other, rounded,
    and added.
    """
    mantissa_pass = LAUNCH + design.max_size - 1 + SUMMED
    taken = 1 + steps(design) - 1
    return mantissa_pass + taken + DIFFERENCE + fused.NORMALISE + design.add_latency
