"""Golden model of the float adder: IEEE 754-2019 clause 5.4.1 with flush to zero."""

from __future__ import annotations

from numpy.typing import ArrayLike

from merp.models.arithmetic import compiled
from merp.models.arithmetic.words import elementwise, limits
from merp.models.base.bits import Bits
from merp.models.base.formats import FloatFormat


def fp_add(a: ArrayLike, b: ArrayLike, fmt: FloatFormat) -> Bits:
    """Add words of any broadcastable shapes, in any format.

    The sum in binary64 may be inexact. It is rounded to odd. Rounding it again into the format then
    gives the correctly rounded sum (``docs/numbers.md``).
    """
    return elementwise(compiled.add_all, a, b, fmt, limits(fmt))
