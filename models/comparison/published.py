"""The printed numbers of the papers with our values, by architecture."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from pkgutil import resolve_name
from typing import Final

from merp.models.comparison.printed import Printed, answered
from merp.models.comparison.registry import ARCHITECTURES
from merp.models.papers.lists import Erratum, paper

ROWS: Final[Mapping[str, Callable[[], Mapping[str, float]]]] = {
    name: resolve_name(each.rows) for name, each in ARCHITECTURES.items() if each.rows
}
"""Our values by key; the papers' lists name the keys."""


@cache
def published(name: str) -> tuple[Printed, ...]:
    """Return every number that the paper of an architecture prints, in the paper's order.

    The result is empty if no list has the paper's numbers.
    """
    return answered(paper(name).numbers, ROWS[name]()) if name in ROWS else ()


def errata(name: str) -> tuple[Erratum, ...]:
    """Return the misprints of the paper of an architecture; none where no list has them."""
    return paper(name).errata if name in ROWS else ()
