"""Widths and latencies of the fused computational unit (page ``cu_fused``)."""

from __future__ import annotations

FRACTION_BITS = 23
EXPONENT_BITS = 8
MANTISSA_BITS = 25  # two's complement, hidden bit included
OPERAND_BITS = MANTISSA_BITS + EXPONENT_BITS
TRIPLE_BITS = 27  # three times a mantissa
LOW_BITS = 7  # of a kernel's mantissa that do not fit one DSP
DISTANCE_BITS = 6  # 0 to 31, and beyond

WIDE = 24  # significand of binary32, hidden bit included
NARROW = (8, 11)  # significands whose product fits one DSP block
PAIRED = 8  # significand for which it fits two products, of two kernels and the same activation

DECODE = 1  # from binary32 to operands, shared by all CUs
PRODUCT = 4
ALIGN = 1  # without the last step of the shift, which the first adder does
GROUP = 4  # terms added one after the other
NORMALISE = 5  # magnitude, leading zeros in two steps, rounding, packing


def operand_bits(significand: int) -> int:
    """Return the bits of a decoded factor.

    They are mantissa and exponent, or, for a narrow factor, sign, significand and exponent.
    """
    return 1 + significand + EXPONENT_BITS if significand in NARROW else OPERAND_BITS


def activation_bits(dsp: int, significand: int = WIDE) -> int:
    """Return the bits of a decoded activation.

    They are an operand, three flags, and, with one DSP, three times the mantissa. A narrow
    activation is an operand and two flags.
    """
    if significand in NARROW:
        return operand_bits(significand) + 2
    return OPERAND_BITS + 3 + (TRIPLE_BITS if dsp == 1 else 0)


def products_apiece(significand: int) -> int:
    """Return the number of products in a DSP block, of one activation and as many kernels."""
    return 2 if significand == PAIRED else 1


def levels(taps: int) -> int:
    """Return the levels of a balanced tree."""
    return (taps - 1).bit_length()


def product_latency(taps: int) -> int:
    """Return the cycles from operands to products and to their alignment distances.

    Distances take one cycle for the exponents' sums and the first level of their maximum. Every two
    further levels take one cycle, and the subtraction takes one.
    """
    return max(PRODUCT, 2 + levels(taps) // 2)


def lateness(tap: int, taps: int) -> int:
    """Return the cycles by which a term follows the first: until its partial sum is available.

    Terms are added one after the other in groups of four. If the number of terms is odd, it is a
    square, and therefore a multiple of four plus one. Its last term is added to a group's sum.
    """
    if taps > 1 and tap == taps - 1 and taps % GROUP == 1:
        return GROUP - 1
    return max(0, tap % GROUP - 1)


def sum_latency(taps: int) -> int:
    """Return the cycles of the sum: the additions of a group, and a tree of the groups and a last
    term.
    """
    return min(taps, GROUP) - 1 + levels(-(-taps // GROUP))


def latency(taps: int) -> int:
    """Return the cycles from a window and a kernel to their sum of products."""
    return DECODE + product_latency(taps) + ALIGN + sum_latency(taps) + NORMALISE
