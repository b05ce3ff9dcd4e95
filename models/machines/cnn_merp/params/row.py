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
"""Delay of the exponents until mantissas are multiplied. In the mantissa pass they wait for the
distance of the product. In the exponent pass they wait as long, so that the largest exponent is not
ready before the previous pass has used its own.
"""
SUMMED = PRODUCT + fused.ALIGN + 1  # from a column's address to sums that include its products
DIFFERENCE = 2  # from stored sums to a row's sum: selection, subtraction


def exponent_bits(design: EngineDesign) -> int:
    """Return the bits that the mantissa pass needs of a factor besides its mantissa: the exponent.

    For a narrow factor, whose significand has no sign, they include the sign.
    """
    return fused.EXPONENT_BITS + int(design.summation.narrow)


def steps(design: EngineDesign) -> int:
    """Return the words of ``ku_lanes`` elements in a kernel's gradients; each takes a cycle to
    add.
    """
    return -(-design.taps // design.ku_lanes)


def sum_bits(design: EngineDesign) -> int:
    """Return the width of the sum of a row of aligned products."""
    return design.fused_window - 1 + fused.levels(design.max_size)


def row_latency(design: EngineDesign) -> int:
    """Return the largest latency from a sweep's last slot to the write of its last gradients.

    It includes the mantissa pass of max_size columns. The sums are then stored, read one word after
    the other, rounded, and added.
    """
    mantissa_pass = LAUNCH + design.max_size - 1 + SUMMED
    taken = 1 + steps(design) - 1
    return mantissa_pass + taken + DIFFERENCE + fused.NORMALISE + design.add_latency
