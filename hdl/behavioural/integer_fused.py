"""The fused sum of products in integers, for the behavioural CU array.

The functions are written from the pages ``cu_fused`` and ``cu_narrow``, and share code with neither
the hardware nor the golden model. A product is moved and rounded in one step. Its cut digits are
subtracted from the exact product. An addition to the bits of the sum rounds it. All compiled
functions are in this one file, because numba's cache does not notice changes in another file.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from merp.models.base.bits import Bits
from merp.models.base.compiled_code import compiled


@compiled(inline="always")
def _mantissa(word: Any) -> Any:
    """Return the signed significand; 2^23 for an infinity, zero for a subnormal."""
    field = (word >> 23) & 255
    magnitude = (1 << 23) | (word & 0x7FFFFF) if field != 0 else 0
    return magnitude * (1 - 2 * (word >> 31))


@compiled(inline="always")
def _rounded_product(a: Any, b: Any, distance: Any, dsp: int, window: int) -> Any:
    """Multiply two mantissas, in units of the aligned window; half a unit is rounded up."""
    product = a * b
    if dsp == 1:
        # The product of a digit loses its bits below this place; a sum of multiples of it remains.
        place = (1 << (46 - window)) - 1
        low = b & 127
        for shift in (0, 2, 4, 6):
            product -= (((low >> shift) & 3) * a << shift) & place
    last = 50 - window + distance
    return (product + (1 << (last - 1))) >> last if last < 63 else 0


@compiled(inline="always")
def _shortened(word: Any, operand: int) -> Any:
    """Round a word to ``operand`` bits of significand; flush subnormals, keep special words."""
    lost = 24 - operand
    if (word >> 23) & 255 == 255:
        return word
    if (word >> 23) & 255 == 0:
        return word & 0x80000000
    up = (1 << (lost - 1)) - 1 + ((word >> lost) & 1)
    return (word + up) >> lost << lost


@compiled(inline="always")
def _narrow_term(a: Any, b: Any, distance: Any, window: int) -> Any:
    """Multiply two mantissas of 24 bits, in units; half a unit is rounded away from zero."""
    last = 50 - window + distance
    product = abs(a) * abs(b)
    term = (product + (1 << (last - 1))) >> last if last < 63 else 0
    return -term if (a < 0) != (b < 0) else term


@compiled(inline="always")
def _word(total: Any, largest: Any, window: int, precision: int) -> Any:
    """Convert a sum of units to a float with ``bits`` bits of significand."""
    sign = 1 << (precision + 7) if total < 0 else 0
    magnitude = abs(total)
    if magnitude == 0:
        return 0
    exponent = largest - window - 250 + 127 + 61
    for step in (32, 16, 8, 4, 2, 1):
        if magnitude < 1 << (62 - step):
            magnitude <<= step
            exponent -= step
    # The leading one is at place 61.
    place = 62 - precision
    kept = (magnitude + (1 << (place - 1)) - 1 + ((magnitude >> place) & 1)) >> place
    packed = ((exponent - 1) << (precision - 1)) + kept
    if packed < 1 << (precision - 1):
        return sign
    return sign | min(packed, 255 << (precision - 1))


@compiled(inline="always")
def _class(word: Any) -> int:
    """Return the class of a word: 0 zero, 1 number, 2 infinity, 3 NaN."""
    field = (word >> 23) & 255
    if field < 255:
        return 1 if field else 0
    return 3 if word & 0x7FFFFF else 2


@compiled(lambda window, kernels, *_: kernels.size)
def sums_of_products(
    window: Bits, kernels: Bits, sums: Bits, dsp: int, operand: int, bits: int, precision: int
) -> None:
    """Compute the fused sum of each CU (``cu_kind = "fused"``).

    Args:
        window: elements, (taps,).
        kernels: kernel elements, (taps, n_cu).
        sums: the result, (n_cu,), with ``bits`` bits of significand.
        dsp, operand, bits: parameters of the design.
    """
    narrow = operand < 24
    top = 255 << (precision - 1)
    for unit in range(sums.size):
        largest: Any = 0
        nan, above, below = False, False, False
        for tap in range(window.size):
            a, b = np.int64(window[tap]), np.int64(kernels[tap, unit])
            if narrow:
                a, b = _shortened(a, operand), _shortened(b, operand)
            kind_a, kind_b = _class(a), _class(b)
            if max(kind_a, kind_b) > 1:
                nan |= max(kind_a, kind_b) == 3 or min(kind_a, kind_b) == 0
                negative = (a ^ b) >> 31 == 1
                below |= negative
                above |= not negative
            elif narrow or min(kind_a, kind_b) == 1:
                largest = max(largest, ((a >> 23) & 255) + ((b >> 23) & 255))
        if nan or (above and below):
            sums[unit] = top | 1 << (precision - 2)
        elif above or below:
            sums[unit] = top | below << (precision + 7)
        else:
            total = np.int64(0)
            for tap in range(window.size):
                a, b = np.int64(window[tap]), np.int64(kernels[tap, unit])
                if narrow:
                    a, b = _shortened(a, operand), _shortened(b, operand)
                x, y = _mantissa(a), _mantissa(b)
                if x != 0 and y != 0:
                    distance = largest - ((a >> 23) & 255) - ((b >> 23) & 255)
                    if narrow:
                        total += _narrow_term(x, y, distance, bits)
                    else:
                        total += _rounded_product(x, y, distance, dsp, bits)
            sums[unit] = _word(total, largest, bits, precision)


@compiled(lambda windows, deltas, *_: windows.size * deltas.shape[1])
def sums_of_rows(
    windows: Bits,
    deltas: Bits,
    sums: Bits,
    taps: int,
    dsp: int,
    operand: int,
    bits: int,
    precision: int,
) -> None:
    """Compute the fused sum of each tap over the columns of a row, for each CU.

    This is the sum of ``ku_kind = "row"``.

    Args:
        windows: elements, (columns, taps).
        deltas: deltas, (columns, n_cu).
        sums: the result, (taps or more, n_cu), with ``bits`` bits of significand.
    """
    for tap in range(taps):
        sums_of_products(windows[:, tap], deltas, sums[tap], dsp, operand, bits, precision)
