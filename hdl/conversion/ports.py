"""Ports of an entity that come in one argument."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any


class Ports:
    """A bundle whose fields are ports under their own names.

    The names of the ports of any other bundle begin with the name of its argument.
    """

    def fields(self) -> Iterator[tuple[str, Any, bool]]:
        """Name and value of each field, and whether it is optional: None where it is not there."""
        for name, value in vars(self).items():
            yield name, value, False


def apart(arguments: Mapping[str, Any]) -> Iterator[tuple[str, Any, bool]]:
    """The arguments of an entity, the fields of its ``Ports`` one by one: name, value, optional."""
    for name, value in arguments.items():
        if isinstance(value, Ports):
            yield from value.fields()
        else:
            yield name, value, False


def prefix_of(name: str, value: object) -> str:
    """What the names of the ports in a bundle begin with; ``name``: of the bundle itself."""
    return "" if isinstance(value, Ports) else f"{name}_"
