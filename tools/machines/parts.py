"""A hardware half whose parts are imported at their first use."""

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
"""The default parts of a machine. They use the machine's phases and its model half."""


class Parts:
    """Attributes by name, each stored as ``package.module:object`` until its first use."""

    def __init__(self, **names: str) -> None:
        self._names = {**USUAL, **names}

    def __getattr__(self, part: str) -> Any:
        """Return the object.

        Raises:
            AttributeError: there is no such part.
        """
        if part == "_names" or part not in self._names:
            raise AttributeError(part)
        return resolve_name(self._names[part])
