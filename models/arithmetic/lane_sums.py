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

All compiled functions stand in this one file, since numba's cache does not notice changes in
another.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numba import njit, prange
from numpy.typing import NDArray

from merp.models.arithmetic.vectors import (
    LANES,
    collect,
    flushed,
    floats,
    integers,
    larger,
    load,
    scaled,
    smaller,
    spread,
    store,
)
from merp.models.params.bits import Bits
from merp.models.params.formats import BINARY32, FloatFormat
from merp.models.params.numba_cache import KEPT
from merp.models.params.summation import Summation

Floats = NDArray[np.float32]
Integers = NDArray[np.int32]
Offsets = NDArray[np.int64]

LEAST = 2 << 23  # bits of twice the smallest normal number
NOTHING = 1024  # in place of the smallest exponent field of nothing but zeros
NONE = -1024  # exponent of a zero: below that of any product, whatever the other factor
KERNEL_CUTS = (0, 7, 12)  # by DSPs: lower bits of a kernel's mantissa, digits where it is one DSP
MOST_TAPS = 1 << 14  # for which sums do not overflow
LOW_CODES = 16  # values of its two lower digits
CODES = LOW_CODES + 8  # and with those of its two upper digits, of three bits


class Terms(NamedTuple):
    """Where the factors of all terms lie.

    Attributes:
        words: binary32 words of the first factors, one-dimensional.
        rows: (groups, taps) offsets into them.
        lanes: (outputs,) offsets, to be added to a row's.
        weights: (groups, m, taps) words of the second factors.
        start: (m,) words.
    """

    words: Bits
    rows: Offsets
    lanes: Offsets
    weights: Bits
    start: Bits


def offsets(counts: Sequence[int], strides: Sequence[int]) -> Offsets:
    """Offsets of a grid's places, the last axis innermost: (product of counts,)."""
    total = np.zeros((1,), np.int64)
    for count, stride in zip(counts, strides, strict=True):
        total = (total[:, np.newaxis] + np.arange(count) * stride).reshape(-1)
    return total


@njit(cache=KEPT)
def _numbers(words: Bits, factor: float) -> Floats:
    """Numbers times a power of two; subnormals are signed zeros. Whole vectors, zeros at the end."""
    source = words.view(np.float32)
    numbers = np.empty(-(-words.size // LANES) * LANES, np.float32)
    times = floats(factor)
    whole = words.size // LANES * LANES
    for at in range(0, whole, LANES):
        store(numbers, at, flushed(load(source, at), 1 << 23) * times)
    if whole < words.size:
        numbers[whole:] = 0
        numbers[whole : words.size] = source[whole:]
        store(numbers, whole, flushed(load(numbers, whole), 1 << 23) * times)
    return numbers


@njit(cache=KEPT)
def _here(lanes: Offsets, low: int) -> tuple[Offsets, bool]:
    """Offsets of the outputs from ``low`` on, the last repeated; whether they are together."""
    here = np.empty(LANES, np.int64)
    together = True
    for lane in range(LANES):
        here[lane] = lanes[min(low + lane, len(lanes) - 1)]
        together &= here[lane] == here[0] + lane
    return here, together


@njit(cache=KEPT)
def _room(size: int) -> Integers:
    """Room for numbers of 32 bits where vectors lie within lines of the processor's cache."""
    room = np.empty(size + LANES, np.int32)
    skipped = -(room.ctypes.data // 4) % LANES
    return room[skipped : skipped + size]


@njit(cache=KEPT)
def _begin(start: Floats, m: int) -> Floats:
    totals = _room(m * LANES).view(np.float32)
    for j in range(m):
        store(totals, j * LANES, floats(start[j]))
    return totals


@njit(cache=KEPT)
def _finish(totals: Floats, low: int, result: Bits) -> bool:
    """Write the words of the outputs from ``low`` on; False if one is not finite."""
    count, m = result.shape
    words = totals.view(np.uint32)
    finite = True
    for j in range(m):
        for lane in range(min(LANES, count - low)):
            word = words[j * LANES + lane]
            finite &= word & 0x7F800000 != 0x7F800000
            # Half the value; what is not a zero is at least twice the smallest normal number.
            result[low + lane, j] = word - (1 << 23) if word & 0x7F800000 else word
    return finite


@njit(cache=KEPT)
def _tree_block(
    numbers: Floats,
    rows: Offsets,
    taps: int,
    lanes: Offsets,
    weights: Floats,
    start: Floats,
    least: int | None,
    low: int,
    result: Bits,
) -> bool:
    """Trees of rounding adders: the outputs from ``low`` on.

    Products are added in pairs, and an odd one passes: the first levels are eights of products
    and what is left over. ``least`` is None if nothing can be flushed: then this is compiled
    without. All is in one function, as a call would count references to arrays.
    """
    m, groups = result.shape[1], rows.size // taps
    packed, terms = (_room(taps * LANES).view(np.float32), _room(taps * LANES).view(np.float32))
    totals = _begin(start, m)
    here, together = _here(lanes, low)
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
    return _finish(totals, low, result)


@njit(cache=KEPT, parallel=True)
def _tree_sums(
    numbers: Floats,
    rows: Offsets,
    taps: int,
    lanes: Offsets,
    weights: Floats,
    start: Floats,
    least: int | None,
    result: Bits,
) -> bool:
    blocks = (len(lanes) + LANES - 1) // LANES
    finite = np.empty(blocks, np.bool_)
    for block in prange(blocks):
        finite[block] = _tree_block(
            numbers, rows, taps, lanes, weights, start, least, block * LANES, result
        )
    return finite.all()


@njit(cache=KEPT)
def _smallest(words: Bits) -> int:
    """Exponent field of the smallest number that is not zero; large if there is none."""
    smallest = np.uint32(NOTHING)
    for index in range(words.size):
        field = (words[index] >> 23) & 255
        smallest = min(smallest, np.uint32(field if field else NOTHING))
    return np.int64(smallest)


def _far_from_least(terms: Terms) -> bool:
    """Whether no sum or product can be too small.

    All products are zero or at least 2^E, E the sum of the smallest exponents: whole multiples of
    2^(E - 23), rounded as well. So are their sums, and with the start likewise.
    """
    x, w, start = map(_smallest, (terms.words, terms.weights.reshape(-1), terms.start))
    return min(x + w - 127, start) - 23 >= 1


def _of_trees(terms: Terms) -> Bits | None:
    result = np.empty((len(terms.lanes), len(terms.start)), np.uint32)
    finite = _tree_sums(
        _numbers(terms.words, 2.0),
        terms.rows.reshape(-1),
        terms.rows.shape[1],
        terms.lanes,
        _numbers(terms.weights.reshape(-1), 1.0),
        _numbers(terms.start, 2.0),
        None if _far_from_least(terms) else np.int32(LEAST),
        result,
    )
    return result if finite else None


@njit(cache=KEPT)
def _finite(words: Bits) -> bool:
    """Whether there are neither infinities nor NaNs."""
    finite = True
    for index in range(words.size):
        finite &= words[index] & 0x7F800000 != 0x7F800000
    return finite


@njit(cache=KEPT)
def _decode(words: Integers, mantissas: Integers, exponents: Integers) -> None:
    """Signed mantissas and exponent fields of finite words, in whole vectors."""
    for at in range(0, words.size, LANES):
        word = load(words, at)
        exponent = (word >> integers(23)) & integers(255)
        some = smaller(exponent, integers(1))
        mantissa = ((word & integers(0x7FFFFF)) + integers(1 << 23)) * some
        negative = (word >> integers(31)) + (word >> integers(31)) + integers(1)  # 1 or -1
        store(mantissas, at, mantissa * negative)
        store(exponents, at, exponent + ((some - integers(1)) & integers(NONE)))


@njit(cache=KEPT)
def _digits(a: Any, first: int, second: int, codes: int, table: Integers, at: int) -> None:
    """Products with two digits of radix 4, each rounded down, at ``at`` and code * LANES.

    first, second: places that are cut of the lower and the upper digit's product; codes: values of
    the upper digit.
    """
    one, two = a >> integers(first), (a + a) >> integers(first)
    three = (a + a + a) >> integers(first)
    for code in range(codes):
        upper = (a * integers(code)) >> integers(second)
        store(table, at + 4 * code * LANES, upper)
        store(table, at + (4 * code + 1) * LANES, upper + one)
        store(table, at + (4 * code + 2) * LANES, upper + two)
        store(table, at + (4 * code + 3) * LANES, upper + three)


@njit(cache=KEPT)
def _tables(mantissas: Integers, window: int, tables: Integers) -> None:
    """Of every tap the products with all values of the two lower and the two upper digits."""
    for tap in range(mantissas.size // LANES):
        a, at = load(mantissas, tap * LANES), tap * CODES * LANES
        _digits(a, 46 - window, 44 - window, 4, tables, at)
        _digits(a, 42 - window, 40 - window, 2, tables, at + LOW_CODES * LANES)


@njit(cache=KEPT)
def _fused_block(
    words: Integers,
    rows: Offsets,
    taps: int,
    lanes: Offsets,
    kernel_uppers: Integers,
    kernel_lowers: Integers,
    exponents: Integers,
    start: Floats,
    dsp: int,
    window: int,
    low: int,
    result: Bits,
) -> bool:
    """Fused sums: the outputs from ``low`` on.

    The steps are those of the page ``cu_fused``. A product of W <= 32 bits is made of parts that
    have as many: the factors are cut, and what overflows modulo 2^32 is right in the end.
    """
    m, groups = result.shape[1], rows.size // taps
    packed, a, fields = _room(taps * LANES), _room(taps * LANES), _room(taps * LANES)
    uppers, lowers, pairs = _room(taps * LANES), _room(taps * LANES), _room(taps * LANES)
    tables = _room(taps * CODES * LANES if dsp == 1 else 0)
    totals = _begin(start, m)
    here, together = _here(lanes, low)
    cut = 42 - window if dsp == 1 else KERNEL_CUTS[2]
    for group in range(groups):
        for tap in range(taps):
            collect(words, rows[group * taps + tap], here, together, packed, tap * LANES)
        _decode(packed, a, fields)
        for tap in range(taps):
            factor = load(a, tap * LANES)
            store(uppers, tap * LANES, factor >> integers(cut))
            store(lowers, tap * LANES, factor & integers((1 << cut) - 1))
        if dsp == 1:
            _tables(a, window, tables)
        for j in range(m):
            at = (group * m + j) * taps
            largest = integers(0)
            for tap in range(taps):
                exponent = load(fields, tap * LANES) + spread(exponents, at + tap)
                store(pairs, tap * LANES, exponent)
                largest = larger(largest, exponent)
            below, above, odd = integers(0), integers(0), integers(0)
            for tap in range(taps):
                upper, lower = load(uppers, tap * LANES), load(lowers, tap * LANES)
                times = spread(kernel_uppers, at + tap)
                if dsp == 1:
                    code, place = kernel_lowers[at + tap], tap * CODES * LANES
                    part = load(tables, place + (code & 15) * LANES)
                    part = part + load(tables, place + (LOW_CODES + (code >> 4)) * LANES)
                    part = part + ((lower * times) >> integers(39 - window))
                    product = upper * times + (part >> integers(3))
                else:
                    rest = spread(kernel_lowers, at + tap)
                    part = upper * rest + lower * times + ((lower * rest) >> integers(cut))
                    product = (upper * times << integers(window - 25)) + (
                        part >> integers(37 - window)
                    )
                moved = product >> smaller(largest - load(pairs, tap * LANES), integers(31))
                below = below + moved
                above = above + (moved >> integers(17))
                odd = odd + (moved & integers(1))
            # A term is half of what was moved, rounded up: the sum of terms is half of the sums of
            # what was moved and of its odd bits. The former is above * 2^17 and a number from 0 to
            # below taps * 2^17, known modulo 2^32.
            rest_of = below - (above << integers(17)) + odd
            term = scaled(above + above, rest_of, largest - integers(window + 250))
            total = load(totals, j * LANES) + flushed(term, LEAST)
            store(totals, j * LANES, flushed(total, LEAST))
    return _finish(totals, low, result)


@njit(cache=KEPT, parallel=True)
def _fused_sums(
    words: Integers,
    rows: Offsets,
    taps: int,
    lanes: Offsets,
    kernel_uppers: Integers,
    kernel_lowers: Integers,
    exponents: Integers,
    start: Floats,
    dsp: int,
    window: int,
    result: Bits,
) -> bool:
    blocks = (len(lanes) + LANES - 1) // LANES
    finite = np.empty(blocks, np.bool_)
    for block in prange(blocks):
        finite[block] = _fused_block(
            words,
            rows,
            taps,
            lanes,
            kernel_uppers,
            kernel_lowers,
            exponents,
            start,
            dsp,
            window,
            block * LANES,
            result,
        )
    return finite.all()


def _of_fused(terms: Terms, summation: Summation) -> Bits | None:
    if terms.rows.shape[1] > MOST_TAPS:
        return None
    if not (_finite(terms.words) and _finite(terms.weights.reshape(-1))):
        return None
    result = np.empty((len(terms.lanes), len(terms.start)), np.uint32)
    size = -(-terms.weights.size // LANES) * LANES
    weights = np.zeros(size, np.int32)
    weights[: terms.weights.size] = terms.weights.reshape(-1).view(np.int32)
    mantissas, exponents = np.empty(size, np.int32), np.empty(size, np.int32)
    _decode(weights, mantissas, exponents)
    cut = KERNEL_CUTS[summation.dsp]
    finite = _fused_sums(
        terms.words.view(np.int32),
        terms.rows.reshape(-1),
        terms.rows.shape[1],
        terms.lanes,
        mantissas >> cut,
        mantissas & ((1 << cut) - 1),
        exponents,
        _numbers(terms.start, 2.0),
        summation.dsp,
        summation.window,
        result,
    )
    return result if finite else None


def lane_sums(terms: Terms, fmt: FloatFormat, summation: Summation) -> Bits | None:
    """Sum as units of a kind do: (outputs, m) words, or None.

    None says that the plain way has to be gone: operands or sums that are too large or not finite,
    a format that is not binary32, or accumulators that are wider.
    """
    if fmt != BINARY32 or summation.accumulator_format(fmt) != BINARY32:
        return None
    return _of_fused(terms, summation) if summation.kind == "fused" else _of_trees(terms)
