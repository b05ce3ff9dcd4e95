"""What the papers print beside our rows, by architecture."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from pkgutil import resolve_name
from typing import Final

from merp.models.comparison.printed import Printed, answered
from merp.models.papers.lists import NAMES, paper, room_of

ROWS: Final[Mapping[str, Callable[[], Mapping[str, float]]]] = {
    name: resolve_name(f"{__package__}.{room_of(name)}_rows:rows") for name in NAMES
}
"""Our values by key; the papers' lists name the keys."""


@cache
def published(name: str) -> tuple[Printed, ...]:
    """Return every number that the paper of an architecture prints, in the paper's order."""
    return answered(paper(name).numbers, ROWS[name]())
