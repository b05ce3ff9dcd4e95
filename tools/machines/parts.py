"""A hardware half whose parts are imported when they are asked for."""

from __future__ import annotations

from pkgutil import resolve_name
from typing import Any, Final

_USUAL = "merp.tools.machines.usual"
USUAL: Final = {
    "choose": f"{_USUAL}.choose:choose",
    "resized": f"{_USUAL}.choose:resized",
    "ways": f"{_USUAL}.choose:WAYS",
    "engine": f"{_USUAL}.engine:engine",
    "settings": f"{_USUAL}.settings:settings",
    "plan": f"{_USUAL}.plan:plan",
    "report": f"{_USUAL}.report:REPORT",
    "export": f"{_USUAL}.export:export",
    "exported": f"{_USUAL}.exported:EXPORTED",
}
"""The parts of a machine that brings none of its own; they ask its phases and its first half."""


class Parts:
    """Attributes by name, each a ``package.module:object`` until it is asked for."""

    def __init__(self, **names: str) -> None:
        self._names = {**USUAL, **names}

    def __getattr__(self, part: str) -> Any:
        """The object.

        Raises:
            AttributeError: there is no such part.
        """
        if part == "_names" or part not in self._names:
            raise AttributeError(part)
        return resolve_name(self._names[part])
