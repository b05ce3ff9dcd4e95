"""Sums of products of binary32 numbers, sixteen outputs at a time: the golden models' fast way.

An output is a start, and for each group of terms their sum of products, added one after the other.
That is a convolution (an output is a position; a group is an input map's window) and a kernel
gradient (an output is a kernel element; a group is a position, or a row of positions). Where a
term's first factor lies is the sum of two offsets, one of its row and one of its output's lane.

The processor's own binary32 operations are ours but for subnormals, NaN payloads, and a product
that it rounds up to the smallest normal number. So all is computed with twice the value: then what
is to be flushed lies below 2^-125, where nothing has been rounded as a subnormal. What is too large
for that, or is no finite number to begin with, shows as an infinity or a NaN in the end, since a
sum with either is never finite again: then the answer is None, and the caller goes the plain way
(``compiled.convolve``, ``fused``), which is the definition.

The compiled functions stand in ``lane_trees``, ``lane_fused`` and ``lane_narrow``, what they have
in common in ``lane_parts``.
"""

from __future__ import annotations

from collections import Counter

from merp.models.arithmetic.terms import Terms, offsets
from merp.models.base.bits import Bits
from merp.models.base.formats import BINARY32, FloatFormat
from merp.models.base.summation import Summation

__all__ = ["Terms", "lane_sums", "offsets", "worthwhile_sums"]

WORTHWHILE = 1 << 17
"""Products below which the plain way has ended before this one is compiled for its sizes."""

PATIENCE = 1 << 23
"""Products after which a process takes this way for smaller sums, too: compiling pays off then."""

_products: Counter[tuple[str, int]] = Counter()  # of this process so far, by kind and operands


def lane_sums(terms: Terms, fmt: FloatFormat, summation: Summation) -> Bits | None:
    """Sum as units of a kind do: (outputs, m) words, or None.

    None says that the plain way has to be gone: operands or sums that are too large or not finite,
    a format that is not binary32, accumulators that are wider, or Python in numba's place.
    """
    if fmt != BINARY32 or summation.accumulator_format(fmt) != BINARY32:
        return None
    import numba  # where there is little to do, it is not needed

    from merp.models.arithmetic.lane_fused import fused_sums
    from merp.models.arithmetic.lane_narrow import narrow_sums
    from merp.models.arithmetic.lane_trees import tree_sums

    if numba.config.DISABLE_JIT:  # type: ignore[attr-defined]  # set while it is imported
        return None
    if summation.kind == "tree":
        return tree_sums(terms)
    return (narrow_sums if summation.narrow else fused_sums)(terms, summation)


def worthwhile_sums(terms: Terms, fmt: FloatFormat, summation: Summation) -> Bits | None:
    """As ``lane_sums``; also None for a small sum in a process that has computed few products."""
    products = terms.lanes.size * terms.weights.size
    kind = summation.kind, summation.operand
    _products[kind] += products
    if products < WORTHWHILE and _products[kind] < PATIENCE:
        return None
    return lane_sums(terms, fmt, summation)
