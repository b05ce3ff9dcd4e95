"""Golden fused sum of narrow products against exact rational arithmetic: bits and bounds."""

from fractions import Fraction
from math import floor

import numpy as np
import pytest

from exact import number, rounded
from marks import few, in_full
from merp.models.arithmetic.fused import fused_sum
from merp.models.base.bits import Bits
from merp.models.base.formats import BINARY32, FloatFormat
from merp.models.base.summation import Summation
from merp.testbenches.arithmetic.fused_bench import CASES, random_windows
from merp.testbenches.arithmetic.narrow_bench import directed

SIZES = [(operand, window, 24) for operand in (8, 11) for window in (16, 20, 32)]
SIZES += [(8, 19, 28), (11, 32, 28), (11, 24, 26)]
CHOICES = [Summation(kind="fused", operand=o, window=w, precision=p) for o, w, p in SIZES]


def name(choice: Summation) -> str:
    """Of a choice, for the tests' names."""
    return f"{choice.operand}bits-{choice.window}-p{choice.precision}"


every_choice = pytest.mark.parametrize("choice", few(CHOICES, *CHOICES[::3]), ids=name)
INF, NAN, SIGN, ONE = BINARY32.inf, BINARY32.nan, BINARY32.sign_bit, BINARY32.one


def factor(word: int, choice: Summation) -> Fraction | None:
    """Value of a factor as the unit takes it, or None if it is no finite number."""
    short = FloatFormat(8, choice.operand - 1)
    exact = number(word, BINARY32, flush=True)
    if exact.magnitude is None:
        return None
    taken = number(rounded(exact.negative, exact.magnitude, short, flush=True).word, short, True)
    if taken.magnitude is None:
        return None
    return -taken.magnitude if taken.negative else taken.magnitude


def special(word: int, choice: Summation) -> float:
    """A factor as a binary64 number, for what only infinities and NaNs decide."""
    found = factor(word, choice)
    if found is not None:
        return float(found)
    if word & ~SIGN > INF:
        return float("nan")
    return float("-inf") if word & SIGN else float("inf")


def size_of(value: Fraction) -> int:
    """Exponent field of a factor: the least one of a zero."""
    if value == 0:
        return 0
    found = 0
    while abs(value) >= Fraction(2) ** (found - 126):
        found += 1
    return found


def unit(a: list[Fraction], b: list[Fraction], choice: Summation) -> Fraction:
    """Weight of the last place of aligned products; a zero counts as 2^-127."""
    largest = max(size_of(x) + size_of(y) for x, y in zip(a, b, strict=True))
    return Fraction(2) ** (largest - choice.window - 250)


def factors(words: list[int], choice: Summation) -> list[Fraction]:
    found = [factor(word, choice) for word in words]
    assert None not in found
    return [x for x in found if x is not None]


def oracle(a: list[int], b: list[int], choice: Summation) -> int:
    """Products rounded to the unit, ties away from zero, added, rounded to nearest even."""
    fmt = choice.accumulator_format(BINARY32)
    if any(factor(word, choice) is None for word in (*a, *b)):
        with np.errstate(all="ignore"):
            values = [np.array([special(x, choice) for x in words]) for words in (a, b)]
            products = values[0] * values[1]
        high, low = bool((products == np.inf).any()), bool((products == -np.inf).any())
        if np.isnan(products).any() or (high and low):
            return fmt.nan
        assert high or low
        return fmt.inf | (fmt.sign_bit if low else 0)
    x, y = factors(a, choice), factors(b, choice)
    one = unit(x, y, choice)
    total = 0
    for product in (p * q for p, q in zip(x, y, strict=True)):
        term = floor(abs(product) / one + Fraction(1, 2))
        total += term if product > 0 else -term
    if total == 0:
        return 0
    return rounded(total < 0, abs(total) * one, fmt, flush=True).word


def check(a: Bits, b: Bits, choice: Summation) -> None:
    got = fused_sum(a, b, choice)
    wanted = [oracle(x, y, choice) for x, y in zip(a.tolist(), b.tolist(), strict=True)]
    assert got.tolist() == wanted != []


@every_choice
@pytest.mark.parametrize("taps", [1, *in_full(2, 9, 25)])
def test_sum_is_exact_but_for_the_stated_roundings(choice: Summation, taps: int) -> None:
    rng = np.random.default_rng([taps, choice.operand, choice.window])
    for kind in CASES:
        check(*random_windows(kind, 40, taps, rng), choice)


@pytest.mark.sample(1)
@every_choice
@pytest.mark.parametrize("taps", [2, *in_full(1, 4, 25)])
def test_directed_windows(choice: Summation, taps: int) -> None:
    windows, kernels = directed(taps)
    check(windows[::3], kernels[::3], choice)


@pytest.mark.parametrize("choice", [CHOICES[0], *in_full(*CHOICES[1:])], ids=name)
def test_error_is_within_the_stated_bound(choice: Summation) -> None:
    """Half a unit per product of rounded factors, and half a place of the result."""
    rng = np.random.default_rng(choice.window)
    fmt = choice.accumulator_format(BINARY32)
    for kind in ("relu", "normal", "gradient", "cancelling"):
        a, b = random_windows(kind, 60, 25, rng)
        for row, kernel, word in zip(a.tolist(), b.tolist(), fused_sum(a, b, choice), strict=True):
            x, y = factors(row, choice), factors(kernel, choice)
            products = [p * q for p, q in zip(x, y, strict=True)]
            found = number(int(word), fmt, flush=True)
            exponent = int(word) >> fmt.frac_bits & fmt.exp_max
            place = Fraction(2) ** (exponent - fmt.bias - fmt.frac_bits)
            assert found.magnitude is not None
            value = -found.magnitude if found.negative else found.magnitude
            one = unit(x, y, choice)
            exact_in_place = choice.window + 3 <= choice.precision  # 25 terms of W - 2 bits
            allowed = Fraction(25, 2) * one + (0 if exact_in_place else place / 2)
            assert abs(value - sum(products)) <= allowed
            assert max(map(abs, products)) >= one * 2 ** (choice.window - 4)


@every_choice
def test_opposite_products_cancel(choice: Summation) -> None:
    """Ties go away from zero, so p(a, -b) is -p(a, b), and all of a sum changes its sign."""
    rng = np.random.default_rng(8)
    for kind in ("relu", "normal", "wide", "gradient"):
        a, b = random_windows(kind, 300, 12, rng)
        twice, both = np.tile(a, 2), np.concatenate([b, b ^ np.uint32(SIGN)], axis=1)
        assert not fused_sum(twice, both, choice).any()
        one, other = fused_sum(a, b, choice), fused_sum(a, b ^ np.uint32(SIGN), choice)
        sign = one.dtype.type(choice.accumulator_format(BINARY32).sign_bit)
        np.testing.assert_array_equal(np.where(one, one ^ sign, 0), other)


@every_choice
def test_the_order_of_taps_does_not_count(choice: Summation) -> None:
    rng = np.random.default_rng(3)
    for kind in CASES:
        a, b = random_windows(kind, 200, 25, rng)
        order = rng.permutation(25)
        np.testing.assert_array_equal(
            fused_sum(a, b, choice), fused_sum(a[:, order], b[:, order], choice)
        )


def test_a_zero_counts_as_the_power_of_two_below_the_least_number() -> None:
    """So it moves the others out of the window only beside a factor 2^100 times theirs."""
    choice = Summation(kind="fused", operand=8, window=20)
    small = [(127 - 40) << 23, (127 - 40) << 23]
    for large in range(1, 255):
        got = fused_sum([0, small[0]], [large << 23, small[1]], choice)
        moved = large - (small[0] >> 23) - (small[1] >> 23)
        assert (got == (127 - 80) << 23) == (moved <= 16)


@pytest.mark.parametrize("key", ["operand", "dsp", "window"])
def test_what_a_narrow_unit_may_be(key: str) -> None:
    wrong = {"operand": ("operand", 9), "dsp": ("dsp", 2), "window": ("window", 15)}
    name, value = wrong[key]
    with pytest.raises(ValueError, match=f"(_{name}|{name}_precision) must be"):
        Summation(**{"kind": "fused", "operand": 8, name: value})
