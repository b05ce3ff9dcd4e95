"""Rounding, saturation and shifts of fixed point, against exact fractions."""

import fixed_loops
import numpy as np
import pytest

from merp.models.arithmetic.fixed import (
    exact,
    floor_shift,
    nearest_even,
    saturated,
    to_numbers,
    to_words,
    toward_zero,
)


@pytest.mark.parametrize("shift", [*range(-15, 31), 47])
def test_nearest_even_is_that_of_fractions(shift: int) -> None:
    generator = np.random.default_rng([1, shift + 15])
    half = 1 << max(0, shift - 1)
    values = [0, 1, -1, half, -half, 3 * half, -3 * half, half - 1, half + 1, -half + 1]
    values += [*generator.integers(-(1 << 47) + 1, 1 << 47, 40).tolist()]
    found = nearest_even(np.array(values, np.int64), shift)
    assert found.tolist() == [fixed_loops.nearest(value, shift) for value in values]


def test_saturation_is_counted() -> None:
    words, clipped = saturated(np.array([-40000, -32769, -32768, 0, 32767, 32768]))
    assert words.tolist() == [-32768, -32768, -32768, 0, 32767, 32767]
    assert words.dtype == np.int16
    assert clipped == 3


def test_toward_zero_and_down() -> None:
    values = np.array([65535, 65536, -65535, -65536, -65537, 3 << 16])
    assert toward_zero(values, 16).tolist() == [0, 1, 0, -1, -1, 3]
    assert floor_shift(np.array([-1, 1, -65537]), 16).tolist() == [-1, 0, -2]
    assert floor_shift(np.array([-3]), -4).tolist() == [-48]


def test_a_sum_that_is_too_long_is_refused() -> None:
    assert exact(np.array([2.0**47 - 1, -(2.0**47) + 1])).tolist() == [2**47 - 1, -(2**47) + 1]
    with pytest.raises(OverflowError, match="does not fit 48 bits"):
        exact(np.array([0.0, -(2.0**47)]))


def test_words_and_numbers() -> None:
    found = to_words(np.array([0.5 / 1024, 1.5 / 1024, -1.0, 40.0]), 10)
    assert found.words.tolist() == [0, 2, -1024, 32767]
    assert found.clipped == 1
    assert to_numbers(found.words, 10).tolist() == [0.0, 2 / 1024, -1.0, 32767 / 1024]
