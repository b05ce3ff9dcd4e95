"""Levels: a sum is as sure as its weakest term."""

from itertools import pairwise

import pytest

from merp.models.comparison.figure import LEVELS, Figure, derived, summed


def test_the_weakest_level_stands() -> None:
    for surer, weaker in pairwise(LEVELS):
        one, other = Figure(1, surer), Figure(2, weaker)
        assert one + other == other + one == summed([one, other, one]) + Figure(-1, surer)
        assert (one + other).level == weaker
        assert derived(5, one, other) == Figure(5, weaker)


def test_nothing_is_zero_and_sure() -> None:
    assert summed([]) == Figure(0, "printed")


def test_levels_have_names() -> None:
    assert list(LEVELS)[-1] == "assumed"
    with pytest.raises(ValueError, match=r"^level must be one of printed, .* not 'guessed'$"):
        Figure(1, "guessed")
