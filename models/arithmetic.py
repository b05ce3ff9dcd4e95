"""Between raw bits and numbers: what every golden model does at its border.

Raw bits are ``numpy.uint32`` whatever the format; unused high bits are zero.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from merp.models import compiled
from merp.models.compiled import Bits, Limits, Values
from merp.models.params.formats import BINARY32, FloatFormat


def limits(fmt: FloatFormat) -> Limits:
    """Constants of a format for the compiled code.

    Raises:
        ValueError: more fraction bits than binary32. Up to 23 every sum and product of two numbers
            rounds the same through binary64 (53 >= 2p + 2).
    """
    if fmt.frac_bits > BINARY32.frac_bits:
        raise ValueError(f"through binary64 frac_bits must be at most 23, not {fmt.frac_bits}")
    return Limits(
        fmt.exp_bits,
        fmt.frac_bits,
        compiled.FRACTION_BITS - fmt.frac_bits,
        compiled.BIAS - fmt.bias,
        2.0 ** (1 - fmt.bias),
        2.0 ** (fmt.bias + 1),
    )


def to_bits(numbers: ArrayLike, fmt: FloatFormat) -> Bits:
    """Round numbers into the format, any shape.

    Rounded once, from binary64; a result below the smallest normal number is a signed zero.
    """
    values = np.asarray(numbers, np.float64, order="C")
    return compiled.encode_all(values.reshape(-1), limits(fmt)).reshape(values.shape)


def to_values(words: ArrayLike, fmt: FloatFormat) -> Values:
    """Values of words, any shape, as binary64; a subnormal is a signed zero."""
    array = np.asarray(words, np.uint32, order="C")
    return compiled.decode_all(array.reshape(-1), limits(fmt)).reshape(array.shape)


def elementwise(
    operation: Callable[[Bits, Bits, Limits], Bits], a: ArrayLike, b: ArrayLike, fmt: FloatFormat
) -> Bits:
    """Apply a compiled operation to two arrays of words of broadcastable shapes."""
    operands = [np.asarray(operand, np.uint32) for operand in (a, b)]
    shape = np.broadcast_shapes(*(operand.shape for operand in operands))
    left, right = (np.array(np.broadcast_to(x, shape), order="C").reshape(-1) for x in operands)
    return operation(left, right, limits(fmt)).reshape(shape)
