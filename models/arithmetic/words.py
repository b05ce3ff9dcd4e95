"""Conversion between raw bits and numbers, which every golden model uses at its interface.

Raw bits are ``numpy.uint32``, or ``numpy.uint64`` for formats wider than 32 bits. Unused high bits
are zero.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from merp.models.arithmetic import compiled
from merp.models.arithmetic.compiled import Limits, Values
from merp.models.base.bits import Bits
from merp.models.base.formats import BINARY32, FloatFormat
from merp.models.base.six import six_word


def limits(fmt: FloatFormat) -> Limits:
    """Return the constants of a format for the compiled code."""
    return Limits(
        fmt.exp_bits,
        fmt.frac_bits,
        compiled.FRACTION_BITS - fmt.frac_bits,
        compiled.BIAS - fmt.bias,
        2.0 ** (1 - fmt.bias),
        2.0 ** (fmt.bias + 1),
    )


def element_limits(fmt: FloatFormat) -> Limits:
    """Return the constants of an element format; binary64 may round its sums and products first.

    Raises:
        ValueError: the format has more fraction bits than binary32, so 53 >= 2p + 2 does not hold.
    """
    if fmt.frac_bits > BINARY32.frac_bits:
        raise ValueError(f"frac_bits of elements must be at most 23, not {fmt.frac_bits}")
    return limits(fmt)


def is_positive(words: Bits, fmt: FloatFormat) -> NDArray[np.bool_]:
    """Return whether each word, of any shape, is above zero; formats of at most 32 bits."""
    least = np.uint32(1 << fmt.frac_bits)  # of the normal numbers; smaller words wrap around
    return words - least <= np.uint32(fmt.inf) - least


def is_below_six(words: Bits, fmt: FloatFormat) -> NDArray[np.bool_]:
    """Return whether each word, of any shape, is above zero and below 6."""
    least = np.uint32(1 << fmt.frac_bits)  # as in ``is_positive``
    return words - least < np.uint32(six_word(fmt)) - least


def as_words(words: ArrayLike, fmt: FloatFormat) -> Bits:
    """Return words of a format as an array of the matching integer type."""
    kind: Any = np.uint32 if fmt.width <= 32 else np.uint64
    return np.asarray(words, kind, order="C")


def to_bits(numbers: ArrayLike, fmt: FloatFormat) -> Bits:
    """Round numbers into the format, any shape.

    Each number is rounded once, from binary64. A result below the smallest normal number becomes a
    signed zero.
    """
    values = np.asarray(numbers, np.float64, order="C")
    words = as_words(np.empty(values.size, np.uint32), fmt)
    compiled.encode_all(values.reshape(-1), words, limits(fmt))
    return words.reshape(values.shape)


def to_values(words: ArrayLike, fmt: FloatFormat) -> Values:
    """Return the values of words, any shape, as binary64; a subnormal becomes a signed zero."""
    array = as_words(words, fmt)
    return compiled.decode_all(array.reshape(-1), limits(fmt)).reshape(array.shape)


def elementwise(
    operation: Callable[[Bits, Bits, Limits], Bits],
    a: ArrayLike,
    b: ArrayLike,
    fmt: FloatFormat,
    lim: Limits,
) -> Bits:
    """Apply a compiled operation to two arrays of words of broadcastable shapes."""
    operands = [as_words(operand, fmt) for operand in (a, b)]
    shape = np.broadcast_shapes(*(operand.shape for operand in operands))
    left, right = (np.array(np.broadcast_to(x, shape), order="C").reshape(-1) for x in operands)
    return operation(left, right, lim).reshape(shape)
