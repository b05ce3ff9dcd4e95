"""A hardware half whose parts are imported when they are asked for."""

from __future__ import annotations

from pkgutil import resolve_name
from typing import Any


class Parts:
    """Attributes by name, each a ``package.module:object`` until it is asked for."""

    def __init__(self, **names: str) -> None:
        self._names = names

    def __getattr__(self, part: str) -> Any:
        """The object.

        Raises:
            AttributeError: there is no such part.
        """
        if part == "_names" or part not in self._names:
            raise AttributeError(part)
        return resolve_name(self._names[part])
