"""Fused sums with binary32 accumulators, sixteen outputs at a time: see ``lane_sums``."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

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
    smallest_field,
    windows_of,
)
from merp.models.arithmetic.terms import Terms
from merp.models.arithmetic.vectors import (
    LANES,
    accumulated,
    collect,
    doubles,
    flushed,
    integers,
    larger,
    load,
    power,
    single,
    smaller,
    spread,
    store,
    whole,
)
from merp.models.base.bits import Bits
from merp.models.base.compiled_code import compiled, prange
from merp.models.base.summation import Summation

Doubles = NDArray[np.float64]

NONE = -1024  # exponent of a zero: below that of any product, for every other factor
KERNEL_CUTS = (0, 7, 0)  # by DSPs: low bits of a kernel's mantissa, used as digits with one DSP
MOST_TAPS = 1 << 14  # up to which sums do not overflow
LOW_CODES = 16  # values of the two lower digits
CODES = LOW_CODES + 8  # plus the values of the two upper digits, of three bits
TAPS_AT_ONCE = 9  # the tables of this number of taps fit into the first-level cache
ROUNDING = 1.5 * 2.0**52  # at this size binary64 has only integers, and rounds every addend


class KernelParts(NamedTuple):
    """Second factors of all terms, flat.

    Attributes:
        uppers: mantissas without the lower bits.
        powers: 2^exponent, 0 for a zero.
        exponents: exponent fields.
        codes: lower bits of the mantissas.
    """

    uppers: Doubles
    powers: Doubles
    exponents: Integers
    codes: Integers


@compiled()
def _decoded(word: Any) -> tuple[Any, Any, Any]:
    """Return signed mantissa, exponent field and 2^exponent of a finite word, in each lane."""
    exponent = (word >> integers(23)) & integers(255)
    some = smaller(exponent, integers(1))
    mantissa = ((word & integers(0x7FFFFF)) + integers(1 << 23)) * some
    negative = (word >> integers(31)) + (word >> integers(31)) + integers(1)  # 1 or -1
    field = exponent + ((some - integers(1)) & integers(NONE))
    return mantissa * negative, field, power(exponent) * whole(some)


@compiled()
def _kernel_parts(words: Integers, cut: int, parts: KernelParts) -> None:
    """Split finite words into parts, in whole vectors."""
    for at in range(0, words.size, LANES):
        mantissa, exponent, times = _decoded(load(words, at))
        store(parts.uppers, at, whole(mantissa >> integers(cut)))
        store(parts.powers, at, times)
        store(parts.exponents, at, exponent)
        store(parts.codes, at, mantissa & integers((1 << cut) - 1))


@compiled()
def _digits(
    a: Any, unit: Any, base: Any, cuts: tuple[int, int], codes: int, table: Doubles, at: int
) -> None:
    """Compute products with two digits of radix 4, each rounded down, and add them to ``base``.

    The products are stored at ``at`` and code * LANES. cuts: places cut from the products of the
    lower and of the upper digit; the last place is then ``unit``. codes: number of values of the
    upper digit.
    """
    lower, two = integers(cuts[0]), a + a
    one, two, three = a >> lower, two >> lower, (two + a) >> lower
    one_more, two_more, three_more = whole(one) * unit, whole(two) * unit, whole(three) * unit
    for code in range(codes):
        upper = base + whole((a * integers(code)) >> integers(cuts[1])) * unit
        store(table, at + 4 * code * LANES, upper)
        store(table, at + (4 * code + 1) * LANES, upper + one_more)
        store(table, at + (4 * code + 2) * LANES, upper + two_more)
        store(table, at + (4 * code + 3) * LANES, upper + three_more)


@compiled()
def _tables(a: Any, times: Any, dsp: int, window: int, tables: Doubles, at: int) -> None:
    """Compute a tap's products with the lower bits of a kernel, plus half a unit of the other
    products.

    Each product is the sum of two entries of ``tables``: one for the two lower digits of radix 4
    and one for the two upper digits. If a product uses two DSPs, the kernel has no separate lower
    bits.

    a: mantissas; times: 2^exponent.
    """
    half = times * doubles(0.5)
    if dsp == 2:
        store(tables, at, half)
        store(tables, at + LOW_CODES * LANES, half - half)
        return
    unit = times * power(integers(39 - window))
    _digits(a, unit, half, (46 - window, 44 - window), 4, tables, at)
    at += LOW_CODES * LANES
    _digits(a, unit, half - half, (42 - window, 40 - window), 2, tables, at)


@compiled()
def _fused_block(
    words: Integers,
    windows: Windows,
    kernels: KernelParts,
    start: Floats,
    dsp: int,
    window: int,
    least: Any,
    low: int,
    result: Bits,
) -> bool:
    """Compute the fused sums of the outputs from ``low`` on.

    The steps are those of the page ``cu_fused``, in binary64. A product has at most 48 bits. With
    half a unit of its last place added, it is never halfway between two terms. So its nearest
    multiple of the term's unit is the term. An addition to ``ROUNDING`` units rounds to it, and
    sums of terms are exact there (``docs/numbers.md``).

    If nothing can be flushed, ``least`` is None, and the flush is not compiled.
    """
    rows, taps, lanes = windows
    m, groups = result.shape[1], rows.size // taps
    packed, a, fields = room(taps * LANES), room(taps * LANES), room(taps * LANES)
    powers, factors = room(taps * LANES, np.float64), room(taps * LANES, np.float64)
    tables = room(min(taps, TAPS_AT_ONCE) * CODES * LANES, np.float64)
    later = m * LANES if taps > TAPS_AT_ONCE else 0
    begun, sums = room(later, np.float64), room(later, np.float64)
    totals = begin(start, m)
    here, together = offsets_here(lanes, low)
    unit = (50 if dsp == 2 else 43) - window  # exponent of a term, in units of a product
    for group in range(groups):
        for tap in range(taps):
            collect(words, rows[group * taps + tap], here, together, packed, tap * LANES)
        for tap in range(taps):
            mantissa, exponent, times = _decoded(load(packed, tap * LANES))
            store(a, tap * LANES, mantissa)
            store(fields, tap * LANES, exponent)
            store(powers, tap * LANES, times)
            store(factors, tap * LANES, whole(mantissa) * times)
        for first in range(0, taps, TAPS_AT_ONCE):
            count = min(taps - first, TAPS_AT_ONCE)
            for tap in range(count):
                mantissa = load(a, (first + tap) * LANES)
                times = load(powers, (first + tap) * LANES)
                _tables(mantissa, times, dsp, window, tables, tap * CODES * LANES)
            for j in range(m):
                at = (group * m + j) * taps
                if first == 0:
                    largest = integers(0)
                    for tap in range(taps):
                        exponent = load(fields, tap * LANES) + spread(kernels.exponents, at + tap)
                        largest = larger(largest, exponent)
                    zero = power(largest + integers(unit)) * doubles(ROUNDING)
                    found = zero
                else:
                    zero, found = load(begun, j * LANES), load(sums, j * LANES)
                for tap in range(count):
                    code, place = kernels.codes[at + first + tap], tap * CODES * LANES
                    part = load(tables, place + (code & 15) * LANES)
                    part = part + load(tables, place + (LOW_CODES + (code >> 4)) * LANES)
                    factor = load(factors, (first + tap) * LANES)
                    product = accumulated(factor, spread(kernels.uppers, at + first + tap), part)
                    found = accumulated(product, spread(kernels.powers, at + first + tap), found)
                if first + count < taps:
                    store(begun, j * LANES, zero)
                    store(sums, j * LANES, found)
                    continue
                # Twice the sum, like all values here.
                term = single((found - zero) * power(integers(-window - 249 - unit)))
                total = load(totals, j * LANES) + flushed(term, least)
                store(totals, j * LANES, flushed(total, least))
    return finish(totals, low, result)


@compiled(parallel=True)
def _fused_sums(
    words: Integers,
    windows: Windows,
    kernels: KernelParts,
    start: Floats,
    dsp: int,
    window: int,
    least: Any,
    result: Bits,
) -> bool:
    blocks = (len(windows.lanes) + LANES - 1) // LANES
    finite = np.empty(blocks, np.bool_)
    for block in prange(blocks):
        finite[block] = _fused_block(
            words, windows, kernels, start, dsp, window, least, block * LANES, result
        )
    return bool(finite.all())


def fused_sums(terms: Terms, summation: Summation) -> Bits | None:
    """Sum terms: (outputs, m) words, or None if an operand or a sum is not finite.

    A window's sum of products is zero or at least one unit, of weight 2^(largest - W - 250). Here
    ``largest`` is at least the sum of the smallest exponents of both factors. If this weight and
    the start are far above the smallest normal number, nothing can be flushed.
    """
    if terms.rows.shape[1] > MOST_TAPS:
        return None
    if not (finite_words(terms.words) and finite_words(terms.weights.reshape(-1))):
        return None
    x, w, start = map(smallest_field, (terms.words, terms.weights.reshape(-1), terms.start))
    far = x + w - summation.window - 123 >= 1 and start - 23 >= 1
    result = np.empty((len(terms.lanes), len(terms.start)), np.uint32)
    size = -(-terms.weights.size // LANES) * LANES
    weights = np.zeros(size, np.int32)
    weights[: terms.weights.size] = terms.weights.reshape(-1).view(np.int32)
    uppers, powers = np.empty(size, np.float64), np.empty(size, np.float64)
    kernels = KernelParts(uppers, powers, np.empty(size, np.int32), np.empty(size, np.int32))
    _kernel_parts(weights, KERNEL_CUTS[summation.dsp], kernels)
    finite = _fused_sums(
        terms.words.view(np.int32),
        windows_of(terms),
        kernels,
        numbers_of(terms.start, 2.0),
        summation.dsp,
        summation.window,
        None if far else np.int32(LEAST),
        result,
    )
    return result if finite else None
