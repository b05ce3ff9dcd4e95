"""Golden model of the conversion between float formats: IEEE 754-2019 clause 5.4.2."""

from __future__ import annotations

from numpy.typing import ArrayLike

from merp.models.arithmetic.words import to_bits, to_values
from merp.models.base.bits import Bits
from merp.models.base.formats import FloatFormat


def fp_convert(a: ArrayLike, fmt: FloatFormat, target: FloatFormat) -> Bits:
    """Round words of ``fmt``, any shape, once into ``target``."""
    return to_bits(to_values(a, fmt), target)
