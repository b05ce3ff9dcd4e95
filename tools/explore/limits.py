"""Limits of a search: ``--limit KEY=VALUE``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite

from merp.models.base.errors import BadInput, shown
from merp.models.explore.point import Point


def read_limits(texts: Sequence[str], objectives: Sequence[str]) -> dict[str, float]:
    """Return the upper limit of each limited objective.

    Only objectives can be limited. A point that another one beats is then beyond a limit if the
    other is. The points within the limits are therefore the front of all designs within them.

    Raises:
        BadInput: the key is not an objective, or is repeated, or the value is not above 0.
    """
    limits: dict[str, float] = {}
    for text in texts:
        key, _, value = text.partition("=")
        if key not in objectives:
            raise BadInput(
                f"--limit {shown(key)}: allowed are the objectives, {', '.join(objectives)}"
            )
        if key in limits:
            raise BadInput(f"--limit {text}: {key} is given twice: allowed is once")
        try:
            limits[key] = float(value)
        except ValueError:
            limits[key] = 0
        if not (isfinite(limits[key]) and limits[key] > 0):
            raise BadInput(f"--limit {shown(text)}: must be KEY=VALUE, VALUE a number above 0")
    return limits


def within(points: Sequence[Point], limits: Mapping[str, float]) -> list[Point]:
    """Return the points of a front within limits.

    Raises:
        BadInput: there are none.
    """
    found = [each for each in points if all(each.costs[k] <= limits[k] for k in limits)]
    if not found:
        said = " ".join(f"--limit {key}={most:g}" for key, most in limits.items())
        least = ", ".join(f"{key} {min(each.costs[key] for each in points):,g}" for key in limits)
        raise BadInput(f"{said}: no design is within the limits: the least of each is {least}")
    return found
