"""Widths and latencies of the fused computational unit (page ``cu_fused``)."""

from __future__ import annotations

FRACTION_BITS = 23
EXPONENT_BITS = 8
MANTISSA_BITS = 25  # two's complement, hidden bit included
OPERAND_BITS = MANTISSA_BITS + EXPONENT_BITS
TRIPLE_BITS = 27  # three times a mantissa
LOW_BITS = 7  # of a kernel's mantissa that one DSP has no room for
DISTANCE_BITS = 6  # 0 to 31, and beyond

WIDE = 24  # significand of binary32, hidden bit included
NARROW = (8, 11)  # those whose product one DSP block has room for
PAIRED = 8  # the one of which it has room for two, of kernels times the same activation

DECODE = 1  # from binary32 to operands, shared by all CUs
PRODUCT = 4
ALIGN = 1  # up to the last step of the shift, which is the first adder's
GROUP = 4  # terms added one after the other
NORMALISE = 5  # magnitude, leading zeros in two steps, rounding, packing


def operand_bits(significand: int) -> int:
    """A factor decoded: mantissa and exponent, of a narrow one sign, significand and exponent."""
    return 1 + significand + EXPONENT_BITS if significand in NARROW else OPERAND_BITS


def activation_bits(dsp: int, significand: int = WIDE) -> int:
    """An activation decoded.

    An operand, three flags, and with one DSP its triple; of a narrow one an operand and two flags.
    """
    if significand in NARROW:
        return operand_bits(significand) + 2
    return OPERAND_BITS + 3 + (TRIPLE_BITS if dsp == 1 else 0)


def products_apiece(significand: int) -> int:
    """Products that a DSP block has room for, of one activation and as many kernels."""
    return 2 if significand == PAIRED else 1


def levels(taps: int) -> int:
    """Levels of a balanced tree."""
    return (taps - 1).bit_length()


def product_latency(taps: int) -> int:
    """Cycles from operands to products and to the distances that they are moved.

    Distances take a cycle for the exponents' sums and the first level of their maximum, one for
    each further two levels, and one for the subtraction.
    """
    return max(PRODUCT, 2 + levels(taps) // 2)


def lateness(tap: int, taps: int) -> int:
    """Cycles that a term comes later than the first: when the sum that it is added to is there.

    Terms are added one after the other in groups of four. Of an odd count (a square, so one more
    than a multiple of four) the last is added to a group's sum.
    """
    if taps > 1 and tap == taps - 1 and taps % GROUP == 1:
        return GROUP - 1
    return max(0, tap % GROUP - 1)


def sum_latency(taps: int) -> int:
    """Cycles of the sum: a group's additions, and a tree of the groups and a last term."""
    return min(taps, GROUP) - 1 + levels(-(-taps // GROUP))


def latency(taps: int) -> int:
    """Cycles from a window and a kernel to their sum of products."""
    return DECODE + product_latency(taps) + ALIGN + sum_latency(taps) + NORMALISE
