"""The architectures that answer, by name, each with the board of its paper."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from pkgutil import resolve_name
from typing import Final

from merp.models.base.errors import BadInput, shown
from merp.models.base.given import mention
from merp.models.comparison.architecture import Architecture
from merp.models.papers.lists import NAMES, room_of

ARCHITECTURES: Final[Mapping[str, Architecture]] = {
    name: resolve_name(f"{__package__}.{room_of(name)}:ARCHITECTURE") for name in NAMES
}
"""In the order in which they are printed, each from the module of its name."""


def named(name: str) -> Architecture:
    """Return the architecture called ``name``.

    Raises:
        BadInput: there is none; the message lists those that there are.
    """
    if name in ARCHITECTURES:
        return ARCHITECTURES[name]
    hint = "".join(f"; did you mean {n}?" for n in get_close_matches(name, ARCHITECTURES, 1))
    allowed = ", ".join(ARCHITECTURES)
    raise BadInput(f"{mention('architecture', shown(name))}: allowed are {allowed}{hint}")
