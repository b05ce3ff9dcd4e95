"""The golden tanh against binary64's, and its derivative: errors, order, and special words."""

from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray

from merp.models.arithmetic.tanh import tanh, tanh_slope, through_tanh
from merp.models.base.bits import Bits
from merp.models.base.formats import BFLOAT16, BINARY16, BINARY32
from merp.models.base.tanh_table import (
    C0_BITS,
    C1_BITS,
    C2_BITS,
    HIGHEST,
    LOWEST,
    SEGMENTS,
    tanh_table,
)

BOUND = 0.645
"""Largest error of tanh in units of the last place of the exact result."""

CHUNK = 1 << 21


def words_between(first: int, end: int, step: int = 1) -> Iterator[Bits]:
    """Words in chunks; each chunk begins with the last word of the one before."""
    for low in range(first, end, CHUNK * step):
        yield np.arange(max(first, low - step), min(end, low + CHUNK * step), step, np.uint32)


def numbers(words: Bits) -> NDArray[np.float64]:
    return words.view(np.float32).astype(np.float64)


def worst(words: Bits, found: Bits) -> float:
    """The largest error in units of the last place; binary64's error is 2^-29 of such a unit."""
    exact = np.tanh(numbers(words))
    place = np.exp2(np.floor(np.log2(np.minimum(exact, 1 - 2.0**-30))) - 23)
    return float((np.abs(numbers(found) - exact) / place).max())


def check(step: int) -> float:
    """Order of all results from 2^-13 to 32, and the largest error."""
    most = 0.0
    for words in words_between(114 << 23, 132 << 23, step):
        found = tanh(words, BINARY32)
        assert (np.diff(found.astype(np.int64)) >= 0).all()
        most = max(most, worst(words, found))
    return most


def test_a_sample_is_in_order_and_within_the_bound() -> None:
    assert check(997) < BOUND


@pytest.mark.parametrize("word", [0x40ACFCDF, 0x40B6ED46, 0x40C27C5D, 0x40C3CEDB, 0x40D4B5B6])
def test_order_where_fewer_guard_bits_lose_it(word: int) -> None:
    lower, upper = tanh([word, word + 1], BINARY32).tolist()
    assert lower <= upper


@pytest.mark.full
def test_every_word_of_the_table_is_in_order_and_within_the_bound() -> None:
    assert 0.6448 < check(1) < BOUND


def test_special_words() -> None:
    sign, nan, inf = BINARY32.sign_bit, BINARY32.nan, BINARY32.inf
    given = [0, sign, 1, sign | 0x7FFFFF, 0x00800000, sign | 0x00800000, inf, sign | inf]
    given += [inf + 1, sign | nan, 0x41800000, 0x7F7FFFFF, 0x39800000 - 1, sign | 0x397FFFFF]
    wanted = [0, sign, 0, sign, 0x00800000, sign | 0x00800000, 0x3F800000, sign | 0x3F800000]
    wanted += [nan, nan, 0x3F800000, 0x3F800000, 0x397FFFFF, sign | 0x397FFFFF]
    assert tanh(given, BINARY32).tolist() == wanted


def test_the_sign_only_changes_the_sign() -> None:
    words = np.arange(115 << 23, 131 << 23, 99991, np.uint32)
    assert (tanh(words | np.uint32(1 << 31), BINARY32) == tanh(words, BINARY32) | 1 << 31).all()


def test_coefficients_fit_and_polynomials_increase() -> None:
    table = tanh_table()
    assert len(table.c0) == SEGMENTS * (HIGHEST - LOWEST + 1)
    for each, size in zip(table, (C0_BITS, C1_BITS, C2_BITS), strict=True):
        assert len(each) == len(table.c0)
        assert min(each) >= 0
        assert max(each) < 1 << size
    # The slope at the end of a segment; beyond 1 - 2^-30 there is none left.
    assert all(c1 - 2 * c2 >= -2 for c1, c2 in zip(table.c1, table.c2, strict=True))


def test_slope_is_within_three_roundings() -> None:
    positive = np.concatenate([np.arange(0x3F000000, 0x3F800001, 16381), [0x3F800000, 0x3F7FFFFF]])
    small = np.arange(0x30000000, 0x3F000000, 65537)
    words = np.concatenate([positive, small]).astype(np.uint32)
    words = np.concatenate([words, words | np.uint32(1 << 31)])
    found = numbers(tanh_slope(words, BINARY32))
    for y, slope in zip(numbers(words).tolist(), found.tolist(), strict=True):
        exact = 1 - Fraction(y) ** 2
        assert abs(Fraction(slope) - exact) <= exact * Fraction(301, 100) / 2**24


def test_slope_of_special_words() -> None:
    one, nan = BINARY32.one, BINARY32.nan
    given = [0, 1 << 31, one, one | 1 << 31, nan]
    assert tanh_slope(given, BINARY32).tolist() == [one, one, 0, 0, nan]
    minus, infinite = one | 1 << 31, BINARY32.inf
    deltas, results = [minus, minus, infinite, nan], [0, one, one, 0]
    wanted = [minus, 1 << 31, nan, nan]
    assert through_tanh(deltas, results, BINARY32).tolist() == wanted


@pytest.mark.parametrize("fmt", [BFLOAT16, BINARY16])
def test_other_formats_are_refused(fmt: object) -> None:
    for each in (lambda: tanh(0, fmt), lambda: tanh_slope(0, fmt)):  # type: ignore[arg-type]
        with pytest.raises(ValueError, match=r"tanh: format \w+ is not allowed; allowed is"):
            each()
