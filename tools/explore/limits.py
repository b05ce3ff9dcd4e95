"""Limits of what is searched for: ``--limit KEY=VALUE``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite

from merp.models.base.errors import BadInput, shown
from merp.models.explore.point import Point


def read_limits(texts: Sequence[str], objectives: Sequence[str]) -> dict[str, float]:
    """Return the most of each objective that is limited.

    Of objectives alone: what another point beats in all of them is beyond a limit if that one is,
    so that the points within are the front of all designs within.

    Raises:
        BadInput: it is no objective, one twice, or no number above 0.
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
        BadInput: there is none.
    """
    found = [each for each in points if all(each.costs[k] <= limits[k] for k in limits)]
    if not found:
        said = " ".join(f"--limit {key}={most:g}" for key, most in limits.items())
        least = ", ".join(f"{key} {min(each.costs[key] for each in points):,g}" for key in limits)
        raise BadInput(f"{said}: no design is within: the least, each by itself, is {least}")
    return found
