"""Fronts of chains of choices are those of all chains tried."""

import random
from itertools import product
from math import inf

import pytest

from merp.models.base.front import Costs, FrontPoint, front, survivors


def tried(
    choices: list[list[int]], table: dict[tuple[int, int, int], Costs], limits: Costs
) -> set[Costs]:
    """The costs that no chain beats."""
    costs = set()
    for chain in product(*choices):
        steps = zip(range(len(chain)), (0, *chain), chain, strict=False)
        total = tuple(map(sum, zip(*(table[step] for step in steps), strict=True)))
        if all(a <= most for a, most in zip(total, limits, strict=True)):
            costs.add(total)
    return {
        one
        for one in costs
        if not any(other != one and all(a <= b for a, b in zip(other, one, strict=True))
                   for other in costs)
    }  # fmt: skip


@pytest.mark.parametrize("seed", range(200))
def test_random_chains(seed: int) -> None:
    draw = random.Random(seed)
    objectives = draw.randint(2, 4)
    choices = [list(range(1, draw.randint(2, 5))) for _ in range(draw.randint(1, 4))]
    befores = [[0], *choices[:-1]]
    table = {
        (place, before, own): tuple(draw.randint(0, 9) for _ in range(objectives))
        for place, own_choices in enumerate(choices)
        for before in befores[place]
        for own in own_choices
    }
    limits = (inf, *(draw.choice((inf, 12)) for _ in range(objectives - 1)))
    found = front(choices, lambda *step: table[step], limits, before=0)
    assert {point.costs for point in found} == tried(choices, table, limits)
    assert len(found) == len({point.costs for point in found})
    assert [point.costs for point in found] == sorted(point.costs for point in found)
    shuffled = [draw.sample(own, len(own)) for own in choices]
    again = front(shuffled, lambda *step: table[step], limits, before=0)
    assert [point.costs for point in again] == [point.costs for point in found]


def test_the_choices_of_a_point_cost_what_it_says() -> None:
    (point,) = front([[1, 2], [3]], lambda _, before, own: (own, before), (inf, inf), before=5)
    assert point == FrontPoint((4, 6), (1, 3))


def test_nothing_fits() -> None:
    assert front([[1]], lambda *_: (1, 5), (inf, 4), before=0) == []


def test_of_equals_one_survives() -> None:
    points = [
        FrontPoint((1, 2), (1,)),
        FrontPoint((1, 2), (2,)),
        FrontPoint((2, 1), (3,)),
        FrontPoint((2, 2), (4,)),
    ]
    assert [point.costs for point in survivors(points)] == [(1, 2), (2, 1)]
