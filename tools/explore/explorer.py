"""The part ``explorer`` of a machine, which searches its designs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from merp.models.base.errors import BadInput, shown

EXACT, ENUMERATE, NSGA2 = "exact", "enumerate", "nsga2"

SEARCH = {"population": 100, "generations": 100, "seed": 0}
"""Options of the genetic search, with their defaults."""


@dataclass(frozen=True, kw_only=True)
class Explorer:
    """The search of a machine's designs.

    Attributes:
        methods: names of its search methods.
        front: takes a request, a network, names of layers, and objectives. It returns a
            ``FoundFront``, and network files of the notable points by place; it may raise BadInput.
    """

    methods: tuple[str, ...]
    front: Callable[..., tuple[Any, dict[int, str]]]


def check_objectives(objectives: Sequence[str], allowed: Sequence[str]) -> None:
    """Refuse unknown objectives.

    Raises:
        BadInput: it names the first unknown objective, and the allowed ones.
    """
    for each in objectives:
        if each not in allowed:
            hint = "".join(f"; did you mean {n}?" for n in get_close_matches(each, allowed, 1))
            raise BadInput(
                f"--objectives {shown(each)}: allowed are {', '.join(allowed)}, with commas{hint}"
            )


def search_of(asked: Any) -> dict[str, int]:
    """Return the options of the genetic search, with defaults."""
    given = {name: getattr(asked, name) for name in SEARCH}
    return {name: SEARCH[name] if value is None else value for name, value in given.items()}
