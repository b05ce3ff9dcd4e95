"""IEEE's results in every rounding direction, against exact rational arithmetic and NumPy."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from exact import OPERATIONS, number
from merp.models.arithmetic.ieee import ROUNDINGS, ieee
from merp.models.base.formats import FloatFormat

TINY = FloatFormat(3, 2)
WORDS = range(1 << TINY.width)


def value(word: int) -> Fraction | None:
    """None for what is no finite number."""
    found = number(word, TINY, flush=False)
    if found.magnitude is None:
        return None
    return -found.magnitude if found.negative else found.magnitude


@pytest.mark.parametrize("op", OPERATIONS)
def test_to_nearest_even_is_the_oracles(op: str) -> None:
    for a, b in product(WORDS, repeat=2):
        assert ieee(op, a, b, TINY, "near_even") == OPERATIONS[op](a, b, TINY, flush=False).word


@pytest.mark.sample(2)
@pytest.mark.parametrize("rounding", ROUNDINGS)
def test_directions_by_their_definition(rounding: str) -> None:
    """Of the two numbers beside the exact result, the one that the direction's name says."""
    finite = sorted((value(w), w) for w in WORDS if value(w) is not None and w != TINY.sign_bit)
    numbers = [pair[0] for pair in finite]
    for a, b in product(WORDS, repeat=2):
        x, y = value(a), value(b)
        if x is None or y is None or x + y == 0:
            continue
        total = x + y
        word = ieee("add", a, b, TINY, rounding)
        below = max((n for n in numbers if n <= total), default=None)
        above = min((n for n in numbers if n >= total), default=None)
        if below == above:
            assert value(word) == total
        elif below is not None and above is not None:
            inner, outer = sorted((below, above), key=abs)
            odd = next(n for n, w in finite if n in (below, above) and w & 1)
            nearest = min((below, above), key=lambda n: (abs(n - total), -abs(n)))
            wanted = {
                "minMag": inner, "min": below, "max": above, "odd": odd, "near_maxMag": nearest,
            }.get(rounding)  # fmt: skip
            assert wanted is None or value(word) == wanted
            assert outer is not None
        elif rounding in ("minMag", "odd") or (rounding == "min") == (total > 0):
            if not rounding.startswith("near"):
                assert value(word) == (below if above is None else above)


def test_zeros_and_overflow_go_where_they_are_rounded() -> None:
    one, sign, largest = TINY.one, TINY.sign_bit, TINY.inf - 1
    zeros = {r: ieee("sub", one, one, TINY, r) for r in ROUNDINGS}
    assert zeros == {**dict.fromkeys(ROUNDINGS, 0), "min": sign}
    up = {r: ieee("add", largest, largest, TINY, r) for r in ROUNDINGS}
    finite = dict.fromkeys(("minMag", "min", "odd"), largest)
    assert up == {**dict.fromkeys(ROUNDINGS, TINY.inf), **finite}


def test_binary16_is_as_numpy_has_it() -> None:
    fmt = FloatFormat(5, 10)
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 1 << 16, (2, 3000)).astype(np.uint16)
    with np.errstate(all="ignore"):
        wanted = {
            "add": a.view(np.float16) + b.view(np.float16),
            "sub": a.view(np.float16) - b.view(np.float16),
            "mul": a.view(np.float16) * b.view(np.float16),
        }
    for op, results in wanted.items():
        words = np.where(np.isnan(results), fmt.nan, results.view(np.uint16)).tolist()
        pairs = zip(a.tolist(), b.tolist(), strict=True)
        assert [ieee(op, x, y, fmt, "near_even") for x, y in pairs] == words
