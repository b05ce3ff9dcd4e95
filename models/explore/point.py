"""A point of a search: the choices, and their costs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from merp.models.explore.pareto import Table, undominated


class Point(NamedTuple):
    """The name of the choice (of a design, or of a layer), and each cost."""

    costs: Mapping[str, float]
    choices: Mapping[str, Any]


KNEE = "knee"


def front_of(points: Sequence[Point], objectives: Sequence[str]) -> list[Point]:
    """Return the points that no other point beats or equals, by the first objective."""
    return [points[place] for place in undominated(_table(points, objectives))]


def _table(points: Sequence[Point], objectives: Sequence[str]) -> Table:
    return np.array([[point.costs[each] for each in objectives] for point in points], np.float64)


def names_of(objectives: Sequence[str]) -> list[str]:
    """Return the names of the points that represent a front."""
    return [KNEE, *(f"least-{objective}" for objective in objectives)]


def numbered(place: int) -> str:
    """Return the name of a point that is selected by its position in the front."""
    return f"point-{place:02}"


def notable(points: Sequence[Point], objectives: Sequence[str]) -> dict[str, int]:
    """Return the positions of points that represent a front: its knee, and the least of each cost.

    Objectives are scaled from 0 for the least value on the front to 1 for the largest. The knee is
    the point nearest to the origin; if there are several, the first. If several points have the
    least value of an objective, the one nearest to the origin is chosen.
    """
    costs = _table(points, objectives)
    least, most = costs.min(axis=0), costs.max(axis=0)
    away = np.linalg.norm((costs - least) / np.where(most > least, most - least, 1.0), axis=1)
    places = [int(away.argmin())]
    for column in range(len(objectives)):
        alike = np.flatnonzero(costs[:, column] == least[column])
        places.append(int(alike[away[alike].argmin()]))
    return dict(zip(names_of(objectives), places, strict=True))
