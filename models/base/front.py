"""Exact Pareto fronts of chains of choices, where costs add up over neighbours.

Dynamic programming: of all ways to the same choice only those survive that no other one beats in
every cost, since whatever follows adds the same to both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

Costs = tuple[float, ...]


@dataclass(frozen=True)
class FrontPoint:
    """Choices in order, and what they cost together."""

    costs: Costs
    choices: tuple[int, ...]


def front(
    choices: Sequence[Sequence[int]],
    cost: Callable[[int, int, int], Costs],
    limits: Costs,
    before: int,
) -> list[FrontPoint]:
    """Return the points that none beats, by their first cost; of equal costs one.

    Args:
        choices: of each place in the chain.
        cost: of a place, its neighbour's choice in front of it, and its own; none negative.
        limits: most of each cost.
        before: what stands in front of the first place.
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
    """Return the points that no other one beats or equals in every cost, by their first cost."""
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
