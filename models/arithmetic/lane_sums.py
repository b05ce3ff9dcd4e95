"""Sums of products of binary32 numbers, sixteen outputs at a time: fast code of the golden models.

An output is a start value plus the sums of products of several groups of terms, added one after the
other. This form covers two cases:

- A convolution: an output is a position; a group is the window of an input map.
- A kernel gradient: an output is a kernel element; a group is a position or a row of positions.

The location of a term's first factor is the sum of two offsets: one of its row and one of its
output's lane.

The processor's binary32 operations differ from the arithmetic of this project in three cases:

- subnormals
- NaN payloads
- a product that the processor rounds up to the smallest normal number

Therefore this module computes with twice the value. Values to be flushed are then below 2^-125,
where the processor has not yet rounded anything as a subnormal. A value may be too large for the
doubling, or not finite. The final sum is then an infinity or a NaN, because a sum with either is
never finite again. In this case the result is None, and the caller uses the plain functions
(``compiled.convolve``, ``fused``), which are the definition.

The compiled functions are in ``lane_trees``, ``lane_fused`` and ``lane_narrow``. Their shared code
is in ``lane_parts``.
"""

from __future__ import annotations

from collections import Counter

from merp.models.arithmetic.terms import Terms, offsets
from merp.models.base.bits import Bits
from merp.models.base.formats import BINARY32, FloatFormat
from merp.models.base.summation import Summation

__all__ = ["Terms", "lane_sums", "offsets", "worthwhile_sums"]

WORTHWHILE = 1 << 17
"""Number of products below which the plain functions finish before numba has compiled this code."""

PATIENCE = 1 << 23
"""Number of products of a process from which smaller sums use this code, too."""

_products: Counter[tuple[str, int]] = Counter()  # of this process until now, by kind and operands


def lane_sums(terms: Terms, fmt: FloatFormat, summation: Summation) -> Bits | None:
    """Sum terms as units of a kind do: (outputs, m) words, or None.

    If the result is None, the caller must use the plain functions. The reasons are:

    - operands or sums that are too large or not finite
    - a format other than binary32
    - wider accumulators
    - no numba: Python runs the code
    """
    if fmt != BINARY32 or summation.accumulator_format(fmt) != BINARY32:
        return None
    import numba  # small sums do not need it

    from merp.models.arithmetic.lane_fused import fused_sums
    from merp.models.arithmetic.lane_narrow import narrow_sums
    from merp.models.arithmetic.lane_trees import tree_sums

    if numba.config.DISABLE_JIT:  # type: ignore[attr-defined]  # set while it is imported
        return None
    if summation.kind == "tree":
        return tree_sums(terms)
    return (narrow_sums if summation.narrow else fused_sums)(terms, summation)


def worthwhile_sums(terms: Terms, fmt: FloatFormat, summation: Summation) -> Bits | None:
    """Sum like ``lane_sums``; also return None for a small sum if the process has computed few
    products.
    """
    products = terms.lanes.size * terms.weights.size
    kind = summation.kind, summation.operand
    _products[kind] += products
    if products < WORTHWHILE and _products[kind] < PATIENCE:
        return None
    return lane_sums(terms, fmt, summation)
