"""Trees of rounding adders, sixteen outputs at a time: see ``lane_sums``."""

from __future__ import annotations

from typing import Any

import numpy as np

from merp.models.arithmetic.lane_parts import (
    LEAST,
    Floats,
    begin,
    finish,
    numbers_of,
    offsets_here,
    room,
    smallest_field,
)
from merp.models.arithmetic.terms import Offsets, Terms
from merp.models.arithmetic.vectors import LANES, collect, flushed, load, spread, store
from merp.models.base.bits import Bits
from merp.models.base.compiled_code import compiled, prange


@compiled()
def _tree_block(
    numbers: Floats,
    rows: Offsets,
    taps: int,
    lanes: Offsets,
    weights: Floats,
    start: Floats,
    least: Any,
    low: int,
    result: Bits,
) -> bool:
    """Compute trees of rounding adders for the outputs from ``low`` on.

    Products are added in pairs, and an odd product passes to the next level. The first levels
    process eight products at a time, then the rest. If nothing can be flushed, ``least`` is None,
    and the flush is not compiled. All code is in one function, because a call would count
    references to arrays.
    """
    m, groups = result.shape[1], rows.size // taps
    packed, terms = room(taps * LANES, np.float32), room(taps * LANES, np.float32)
    totals = begin(start, m)
    here, together = offsets_here(lanes, low)
    for group in range(groups):
        for tap in range(taps):
            collect(numbers, rows[group * taps + tap], here, together, packed, tap * LANES)
        for j in range(m):
            at = (group * m + j) * taps
            if taps == 1:
                term = flushed(load(packed, 0) * spread(weights, at), least)
                total = load(totals, j * LANES) + term
                store(totals, j * LANES, flushed(total, least))
                continue
            count, tap = 0, 0
            while tap + 8 <= taps:
                a = flushed(load(packed, tap * LANES) * spread(weights, at + tap), least)
                b = flushed(load(packed, (tap + 1) * LANES) * spread(weights, at + tap + 1), least)
                c = flushed(load(packed, (tap + 2) * LANES) * spread(weights, at + tap + 2), least)
                d = flushed(load(packed, (tap + 3) * LANES) * spread(weights, at + tap + 3), least)
                four = flushed(flushed(a + b, least) + flushed(c + d, least), least)
                a = flushed(load(packed, (tap + 4) * LANES) * spread(weights, at + tap + 4), least)
                b = flushed(load(packed, (tap + 5) * LANES) * spread(weights, at + tap + 5), least)
                c = flushed(load(packed, (tap + 6) * LANES) * spread(weights, at + tap + 6), least)
                d = flushed(load(packed, (tap + 7) * LANES) * spread(weights, at + tap + 7), least)
                a = flushed(flushed(a + b, least) + flushed(c + d, least), least)
                store(terms, count * LANES, flushed(four + a, least))
                count += 1
                tap += 8
            if tap + 4 <= taps:
                a = flushed(load(packed, tap * LANES) * spread(weights, at + tap), least)
                b = flushed(load(packed, (tap + 1) * LANES) * spread(weights, at + tap + 1), least)
                c = flushed(load(packed, (tap + 2) * LANES) * spread(weights, at + tap + 2), least)
                d = flushed(load(packed, (tap + 3) * LANES) * spread(weights, at + tap + 3), least)
                term = flushed(flushed(a + b, least) + flushed(c + d, least), least)
                store(terms, count * LANES, term)
                tap += 4
            if tap < taps:
                a = flushed(load(packed, tap * LANES) * spread(weights, at + tap), least)
                if tap + 1 < taps:
                    b = load(packed, (tap + 1) * LANES) * spread(weights, at + tap + 1)
                    a = flushed(a + flushed(b, least), least)
                if tap + 2 < taps:
                    b = load(packed, (tap + 2) * LANES) * spread(weights, at + tap + 2)
                    a = flushed(a + flushed(b, least), least)
                if taps & 4:
                    a = flushed(load(terms, count * LANES) + a, least)
                store(terms, count * LANES, a)
            count = (taps + 7) // 8
            while count > 2:
                for pair in range(count // 2):
                    term = load(terms, 2 * pair * LANES) + load(terms, (2 * pair + 1) * LANES)
                    store(terms, pair * LANES, flushed(term, least))
                if count & 1:
                    store(terms, (count // 2) * LANES, load(terms, (count - 1) * LANES))
                count = (count + 1) // 2
            term = load(terms, 0)
            if count == 2:
                term = flushed(term + load(terms, LANES), least)
            total = load(totals, j * LANES) + term
            store(totals, j * LANES, flushed(total, least))
    return finish(totals, low, result)


@compiled(parallel=True)
def _tree_sums(
    numbers: Floats,
    rows: Offsets,
    taps: int,
    lanes: Offsets,
    weights: Floats,
    start: Floats,
    least: Any,
    result: Bits,
) -> bool:
    blocks = (len(lanes) + LANES - 1) // LANES
    finite = np.empty(blocks, np.bool_)
    for block in prange(blocks):
        finite[block] = _tree_block(
            numbers, rows, taps, lanes, weights, start, least, block * LANES, result
        )
    return bool(finite.all())


def tree_sums(terms: Terms) -> Bits | None:
    """Sum terms: (outputs, m) words, or None if a sum is not finite or almost overflows.

    Let E be the sum of the smallest exponents of both factors. If E is large, no sum or product can
    be too small. Every product is zero or at least 2^E, and a whole multiple of 2^(E - 23);
    rounding keeps this. The same is true of sums of products, and of sums with the start.
    """
    weights = terms.weights.reshape(-1)
    x, w, start = map(smallest_field, (terms.words, weights, terms.start))
    subnormal = x == 0  # only then the words must be copied
    result = np.empty((len(terms.lanes), len(terms.start)), np.uint32)
    finite = _tree_sums(
        numbers_of(terms.words, 2.0) if subnormal else terms.words.view(np.float32),
        terms.rows.reshape(-1),
        terms.rows.shape[1],
        terms.lanes,
        numbers_of(weights, 1.0 if subnormal else 2.0),
        numbers_of(terms.start, 2.0),
        None if min(x + w - 127, start) - 23 >= 1 else np.int32(LEAST),
        result,
    )
    return result if finite else None
