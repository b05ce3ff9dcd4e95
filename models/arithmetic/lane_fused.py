"""Fused sums with binary32 accumulators, sixteen outputs at a time: see ``lane_sums``."""

from __future__ import annotations

from typing import Any, NamedTuple

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

NONE = -1024  # exponent of a zero: below that of any product, whatever the other factor
KERNEL_CUTS = (0, 7, 12)  # by DSPs: lower bits of a kernel's mantissa, digits where it is one DSP
MOST_TAPS = 1 << 14  # for which sums do not overflow
LOW_CODES = 16  # values of its two lower digits
CODES = LOW_CODES + 8  # and with those of its two upper digits, of three bits


class KernelParts(NamedTuple):
    """Second factors of all terms, flat: mantissas in two parts, and fields of exponents."""

    uppers: Integers
    lowers: Integers
    exponents: Integers


@compiled()
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


@compiled()
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


@compiled()
def _tables(mantissas: Integers, window: int, tables: Integers) -> None:
    """Of every tap the products with all values of the two lower and the two upper digits."""
    for tap in range(mantissas.size // LANES):
        a, at = load(mantissas, tap * LANES), tap * CODES * LANES
        _digits(a, 46 - window, 44 - window, 4, tables, at)
        _digits(a, 42 - window, 40 - window, 2, tables, at + LOW_CODES * LANES)


@compiled()
def _fused_block(
    words: Integers,
    windows: Windows,
    kernels: KernelParts,
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
    rows, taps, lanes = windows
    kernel_uppers, kernel_lowers, exponents = kernels
    m, groups = result.shape[1], rows.size // taps
    packed, a, fields = room(taps * LANES), room(taps * LANES), room(taps * LANES)
    uppers, lowers, pairs = room(taps * LANES), room(taps * LANES), room(taps * LANES)
    tables = room(taps * CODES * LANES if dsp == 1 else 0)
    totals = begin(start, m)
    here, together = offsets_here(lanes, low)
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
    return finish(totals, low, result)


@compiled(parallel=True)
def _fused_sums(
    words: Integers,
    windows: Windows,
    kernels: KernelParts,
    start: Floats,
    dsp: int,
    window: int,
    result: Bits,
) -> bool:
    blocks = (len(windows.lanes) + LANES - 1) // LANES
    finite = np.empty(blocks, np.bool_)
    for block in prange(blocks):
        finite[block] = _fused_block(
            words, windows, kernels, start, dsp, window, block * LANES, result
        )
    return bool(finite.all())


def fused_sums(terms: Terms, summation: Summation) -> Bits | None:
    """Sum: (outputs, m) words, or None if an operand or one of them is not finite."""
    if terms.rows.shape[1] > MOST_TAPS:
        return None
    if not (finite_words(terms.words) and finite_words(terms.weights.reshape(-1))):
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
        windows_of(terms),
        KernelParts(mantissas >> cut, mantissas & ((1 << cut) - 1), exponents),
        numbers_of(terms.start, 2.0),
        summation.dsp,
        summation.window,
        result,
    )
    return result if finite else None
