"""Modules in turn: the twelve times that loads of 0.1 to 1 s give."""

import pytest

from merp.models.comparison.fcnn_paper import order
from merp.models.papers.fcnn.schedule import round_seconds, seconds

TIMES = {
    0.1: (22.6, 21.5, 201, 104),
    0.5: (27.4, 22.8, 921, 464),
    1.0: (33.4, 25.7, 1821, 914),
}


@pytest.mark.parametrize("load", TIMES)
def test_loads_once_an_iteration_and_with_every_minibatch(load: float) -> None:
    modules = order()
    parts = [each / 150 for each in modules]
    found = (
        *(seconds(modules, cards, load) for cards in (1, 2)),
        *(seconds(parts, cards, load, rounds=150) for cards in (1, 2)),
    )
    assert found == pytest.approx(TIMES[load], rel=0.005)


def test_one_card_loads_between_all_modules() -> None:
    assert round_seconds([1.0, 2.0], 1, 0.5) == 4.0


def test_another_card_hides_what_is_shorter_than_a_module() -> None:
    assert round_seconds([1.0, 2.0, 3.0, 4.0], 2, 0.5) == 10.0
    assert round_seconds([1.0, 1.0], 2, 3.0) == 4.0  # each card: its load and its module


def test_the_first_modules_wait_for_their_loads() -> None:
    assert seconds([1.0, 1.0], 2, 0.5) == 2.5
