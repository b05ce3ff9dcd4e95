"""A design with arrays in some of its fields, so that a formula gives many results together."""

from __future__ import annotations

from typing import Any, Generic, TypeVar

Design = TypeVar("Design")


class Sized(Generic[Design]):
    """A design with other values of some fields and properties: arrays that broadcast."""

    def __init__(self, design: Design, **sizes: Any) -> None:
        self._design = design
        self.__dict__.update(sizes)

    def __getattr__(self, name: str) -> Any:
        """Return any other field or property of the design."""
        return getattr(self._design, name)
