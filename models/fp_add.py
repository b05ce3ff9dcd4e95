"""Golden float adder: IEEE 754-2019 clause 5.4.1 with flush to zero."""

from __future__ import annotations

from numpy.typing import ArrayLike

from merp.models import compiled
from merp.models.arithmetic import elementwise
from merp.models.compiled import Bits
from merp.models.params.formats import FloatFormat


def fp_add(a: ArrayLike, b: ArrayLike, fmt: FloatFormat) -> Bits:
    """Add words of any broadcastable shapes.

    The sum in binary64 may be inexact; rounding it again into the format changes nothing, as
    53 >= 2*24 + 2 (Figueroa 1995, doi:10.1145/221332.221334; ``docs/numbers.md``).
    """
    return elementwise(compiled.add_all, a, b, fmt)
