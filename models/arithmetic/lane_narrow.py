"""Fused sums of narrow factors with binary32 accumulators, sixteen outputs at a time.

See ``lane_sums``. The steps are those of the page ``cu_narrow``. Products have at most 22 bits.
They and their aligned terms are integers of 32 bits. The sum of the terms also fits 32 bits up to a
number of taps that depends on the window.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from merp.models.arithmetic.lane_parts import (
    LEAST,
    Floats,
    Integers,
    Windows,
    begin,
    finish,
    finite_words,
    numbers_of,
    offsets_here,
    room,
    windows_of,
)
from merp.models.arithmetic.terms import Terms
from merp.models.arithmetic.vectors import (
    LANES,
    collect,
    flushed,
    integers,
    larger,
    load,
    scaled,
    smaller,
    spread,
    store,
)
from merp.models.base.bits import Bits
from merp.models.base.compiled_code import compiled, prange
from merp.models.base.summation import Summation

SIGNIFICAND = 24  # bits of binary32's, hidden bit included
SIGN = np.uint32(1 << 31)


def _rounded(words: Bits, operand: int) -> Bits:
    """Return words with ``operand`` bits of significand, ties to even; subnormals become zeros.

    A carry out of the fraction increments the exponent. Above the largest number the result is
    infinity.
    """
    normal = np.where(words & np.uint32(0x7F800000), words, words & SIGN)
    dropped = np.uint32(SIGNIFICAND - operand)
    odd = (normal >> dropped) & np.uint32(1)
    return (normal + np.uint32((1 << (dropped - 1)) - 1) + odd) >> dropped << dropped


class Factors(NamedTuple):
    """Signed mantissas and exponent fields of factors, flat; a zero has mantissa and field 0."""

    mantissas: Integers
    fields: Integers


def _decoded(rounded: Bits, operand: int) -> Factors:
    """Return signed mantissas of ``operand`` bits and exponent fields."""
    fields = (rounded >> np.uint32(23) & np.uint32(255)).view(np.int32)
    fraction = (rounded & np.uint32(0x7FFFFF)).view(np.int32)
    whole = (fraction + np.where(fields, np.int32(1 << 23), np.int32(0))) >> SIGNIFICAND - operand
    return Factors(np.where(rounded & SIGN, -whole, whole), fields)


@compiled()
def _narrow_block(
    maps: Factors,
    windows: Windows,
    kernels: Factors,
    start: Floats,
    cut: int,
    window: int,
    low: int,
    result: Bits,
) -> bool:
    """Compute the sums of narrow factors for the outputs from ``low`` on.

    cut: bits of a product below the window; if the window is longer, the kernels are shifted left
    beforehand.
    """
    rows, taps, lanes = windows
    m, groups = result.shape[1], rows.size // taps
    a, fields, pairs = room(taps * LANES), room(taps * LANES), room(taps * LANES)
    totals = begin(start, m)
    here, together = offsets_here(lanes, low)
    for group in range(groups):
        for tap in range(taps):
            row = rows[group * taps + tap]
            collect(maps.mantissas, row, here, together, a, tap * LANES)
            collect(maps.fields, row, here, together, fields, tap * LANES)
        for j in range(m):
            at = (group * m + j) * taps
            largest = integers(0)
            for tap in range(taps):
                exponent = load(fields, tap * LANES) + spread(kernels.fields, at + tap)
                store(pairs, tap * LANES, exponent)
                largest = larger(largest, exponent)
            total = integers(0)
            for tap in range(taps):
                product = load(a, tap * LANES) * spread(kernels.mantissas, at + tap)
                distance = largest - load(pairs, tap * LANES) + integers(cut)
                moved = larger(product, integers(0) - product) >> smaller(distance, integers(31))
                term = (moved >> integers(1)) + (moved & integers(1))
                total = total + term - ((term + term) & (product >> integers(31)))
            # Twice the sum, like all values here.
            scale = largest - integers(window + 249)
            added = flushed(scaled(total >> integers(16), total & integers(0xFFFF), scale), LEAST)
            store(totals, j * LANES, flushed(load(totals, j * LANES) + added, LEAST))
    return finish(totals, low, result)


@compiled(parallel=True)
def _narrow_sums(
    maps: Factors,
    windows: Windows,
    kernels: Factors,
    start: Floats,
    cut: int,
    window: int,
    result: Bits,
) -> bool:
    blocks = (len(windows.lanes) + LANES - 1) // LANES
    finite = np.empty(blocks, np.bool_)
    for block in prange(blocks):
        finite[block] = _narrow_block(
            maps, windows, kernels, start, cut, window, block * LANES, result
        )
    return bool(finite.all())


def narrow_sums(terms: Terms, summation: Summation) -> Bits | None:
    """Sum terms: (outputs, m) words, or None if a rounded factor or a sum is not finite.

    The result is also None if a sum of terms, each of at most 2^(W - 2), may not fit 32 bits.
    """
    taps, operand, window = terms.rows.shape[1], summation.operand, summation.window
    if taps << (window - 2) >= 1 << 31:
        return None
    words, weights = (_rounded(x, operand) for x in (terms.words, terms.weights.reshape(-1)))
    if not (finite_words(words) and finite_words(weights)):
        return None
    maps, kernels = _decoded(words, operand), _decoded(weights, operand)
    result = np.empty((len(terms.lanes), len(terms.start)), np.uint32)
    moved_up = window - 1 - 2 * operand
    finite = _narrow_sums(
        maps,
        windows_of(terms),
        Factors(kernels.mantissas << max(0, moved_up), kernels.fields),
        numbers_of(terms.start, 2.0),
        max(0, -moved_up),
        window,
        result,
    )
    return result if finite else None
