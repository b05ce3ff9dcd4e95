"""The rounding at the alignment, once more in NumPy: the shipped bits, its bias, and the cure's."""

import numpy as np
import pytest

from alignment import CHOICES, IMAGES, aligned, bias, not_cancelled, over_maps
from merp.models.arithmetic.fused import fused_sum
from merp.models.arithmetic.words import to_bits
from merp.models.base.formats import BINARY32

every_dsp = pytest.mark.parametrize("dsp", [1, 2])


@every_dsp
@pytest.mark.parametrize("name", IMAGES)
def test_as_shipped_it_is_the_golden_sum(name: str, dsp: int) -> None:
    rng = np.random.default_rng(dsp)
    a, b = (draw(rng, 1000) for draw in IMAGES[name])
    found, choice = aligned(a, b, CHOICES[dsp]), CHOICES[dsp]
    words = to_bits(found.total * found.unit, choice.accumulator_format(BINARY32))
    np.testing.assert_array_equal(words, fused_sum(a, b, choice))


@every_dsp
def test_half_up_leaves_a_bias_that_half_to_even_takes_away(dsp: int) -> None:
    draws = IMAGES["0..255 x normal"]
    assert bias(draws, dsp, False, 10_000)[0] == pytest.approx(1.86, abs=0.08)
    assert bias(draws, dsp, True, 10_000)[0] == pytest.approx(0, abs=0.08)


@pytest.mark.parametrize("even", [False, True])
def test_low_digits_rounded_down_leave_a_bias_in_either_case(even: bool) -> None:
    draws = IMAGES["normal x normal"]
    assert bias(draws, 1, even, 10_000)[0] == pytest.approx(-0.52, abs=0.08)
    assert bias(draws, 2, even, 10_000)[0] == pytest.approx(0, abs=0.08)


def test_shares_of_pairs_that_do_not_cancel() -> None:
    assert not_cancelled(24, 1, None, 20_000) == pytest.approx(0.17, abs=0.01)
    assert not_cancelled(24, 2, None, 20_000) < 0.001
    for dsp in (1, 2):
        assert not_cancelled(8, dsp, None, 1000) == 0


@every_dsp
def test_what_is_left_over_a_few_maps_is_small(dsp: int) -> None:
    """Far below what the accumulator's own rounding leaves (``accumulation_error``)."""
    shipped = over_maps(IMAGES["0..255 x normal"], dsp, False, 8, 100)
    assert abs(shipped.bias) < 0.1
