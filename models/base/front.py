"""Exact Pareto fronts of chains of choices, whose costs add up over neighbours.

The search is dynamic programming. Of all chains that end in the same choice, it keeps those that no
other chain beats in every cost. This is exact, because the rest of the chain adds the same costs to
all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

Costs = tuple[float, ...]


@dataclass(frozen=True)
class FrontPoint:
    """A sequence of choices, and its total costs."""

    costs: Costs
    choices: tuple[int, ...]


def front(
    choices: Sequence[Sequence[int]],
    cost: Callable[[int, int, int], Costs],
    limits: Costs,
    before: int,
) -> list[FrontPoint]:
    """Return the Pareto-optimal points, ordered by their first cost; one of several with equal
    costs.

    Args:
        choices: of each place in the chain.
        cost: of a place, from its index, the choice of its predecessor, and its own choice; not
            negative.
        limits: the largest allowed value of each cost.
        before: the choice that precedes the first place.
    """
    ways: dict[int, list[FrontPoint]] = {before: [FrontPoint((0.0,) * len(limits), ())]}
    for place, own in enumerate(choices):
        ways = {choice: survivors(_extended(ways, cost, limits, place, choice)) for choice in own}
    return survivors(point for points in ways.values() for point in points)


def _extended(
    ways: dict[int, list[FrontPoint]],
    cost: Callable[[int, int, int], Costs],
    limits: Costs,
    place: int,
    choice: int,
) -> Iterable[FrontPoint]:
    for neighbour, points in ways.items():
        added = cost(place, neighbour, choice)
        if any(a > most for a, most in zip(added, limits, strict=True)):
            continue
        for point in points:
            costs = tuple(a + b for a, b in zip(point.costs, added, strict=True))
            if all(a <= most for a, most in zip(costs, limits, strict=True)):
                yield FrontPoint(costs, (*point.choices, choice))


def survivors(points: Iterable[FrontPoint]) -> list[FrontPoint]:
    """Return the points that no other point beats or equals in every cost, by their first cost."""
    cheapest: dict[Costs, FrontPoint] = {}  # most are equal in all costs but the first
    for point in points:
        same = cheapest.get(point.costs[1:])
        if same is None or point.costs < same.costs:
            cheapest[point.costs[1:]] = point
    kept: list[FrontPoint] = []
    for point in sorted(cheapest.values(), key=lambda each: each.costs):
        if not any(_as_good(other.costs, point.costs) for other in reversed(kept)):
            kept.append(point)
    return kept


def _as_good(one: Costs, other: Costs) -> bool:
    return all(a <= b for a, b in zip(one, other, strict=True))
