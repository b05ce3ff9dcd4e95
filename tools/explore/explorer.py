"""How the designs of a machine are explored: its part ``explorer``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from merp.models.base.errors import BadInput, shown

EXACT, ENUMERATE, NSGA2 = "exact", "enumerate", "nsga2"

SEARCH = {"population": 100, "generations": 100, "seed": 0}
"""Options of the genetic search, and their defaults."""


@dataclass(frozen=True, kw_only=True)
class Explorer:
    """How designs are searched.

    Attributes:
        methods: that it knows. front: of a request, a network, names of layers and objectives: what
            was ``Found``, and network files of its notable points, by place; raises BadInput.
    """

    methods: tuple[str, ...]
    front: Callable[..., tuple[Any, dict[int, str]]]


def check_objectives(objectives: Sequence[str], allowed: Sequence[str]) -> None:
    """Refuse objectives that there are not.

    Raises:
        BadInput: it names the first of them, and what is allowed.
    """
    for each in objectives:
        if each not in allowed:
            hint = "".join(f"; did you mean {n}?" for n in get_close_matches(each, allowed, 1))
            raise BadInput(
                f"--objectives {shown(each)}: allowed are {', '.join(allowed)}, with commas{hint}"
            )


def search_of(asked: Any) -> dict[str, int]:
    """Options of the genetic search, as given or by default."""
    given = {name: getattr(asked, name) for name in SEARCH}
    return {name: SEARCH[name] if value is None else value for name, value in given.items()}
