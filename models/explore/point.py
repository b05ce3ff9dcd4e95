"""A point of a search: what was chosen, and what it costs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from merp.models.explore.pareto import Table, undominated


class Point(NamedTuple):
    """What was chosen by name (of a design, or of a layer), and each cost."""

    costs: Mapping[str, float]
    choices: Mapping[str, Any]


KNEE = "knee"


def front_of(points: Sequence[Point], objectives: Sequence[str]) -> list[Point]:
    """Return the points that no other one beats or equals, by the first objective."""
    return [points[place] for place in undominated(_table(points, objectives))]


def _table(points: Sequence[Point], objectives: Sequence[str]) -> Table:
    return np.array([[point.costs[each] for each in objectives] for point in points], np.float64)


def names_of(objectives: Sequence[str]) -> list[str]:
    """Return the names of the points that stand for a front."""
    return [KNEE, *(f"least-{objective}" for objective in objectives)]


def numbered(place: int) -> str:
    """Return the name of a point that is asked for by its place in the front."""
    return f"point-{place:02}"


def notable(points: Sequence[Point], objectives: Sequence[str]) -> dict[str, int]:
    """Return the places of points that stand for a front: its knee, and the least of each cost.

    The knee is the point nearest to one that has the least of every objective, each counted from 0
    at its least on the front to 1 at its most; the first of several. Of several points with the
    least of an objective it is the one nearest to that, too.
    """
    costs = _table(points, objectives)
    least, most = costs.min(axis=0), costs.max(axis=0)
    away = np.linalg.norm((costs - least) / np.where(most > least, most - least, 1.0), axis=1)
    places = [int(away.argmin())]
    for column in range(len(objectives)):
        alike = np.flatnonzero(costs[:, column] == least[column])
        places.append(int(alike[away[alike].argmin()]))
    return dict(zip(names_of(objectives), places, strict=True))
