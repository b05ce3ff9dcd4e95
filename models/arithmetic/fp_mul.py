"""Golden model of the float multiplier: IEEE 754-2019 clause 5.4.1 with flush to zero."""

from __future__ import annotations

from numpy.typing import ArrayLike

from merp.models.arithmetic import compiled
from merp.models.arithmetic.words import element_limits, elementwise
from merp.models.base.bits import Bits
from merp.models.base.formats import FloatFormat


def fp_mul(a: ArrayLike, b: ArrayLike, fmt: FloatFormat) -> Bits:
    """Multiply words of any broadcastable shapes.

    The product of two significands of at most 24 bits is exact in binary64. Therefore it is rounded
    only once.
    """
    return elementwise(compiled.multiply_all, a, b, fmt, element_limits(fmt))
