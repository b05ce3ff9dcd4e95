"""Ports of an entity that come in one argument."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import ModuleType
from typing import Any

from merp.hdl.conversion.base.internals import AnySignal, Block, Instantiator


class Ports:
    """A bundle whose fields are ports under their own names.

    The names of the ports of any other bundle begin with the name of its argument.
    """

    def fields(self) -> Iterator[tuple[str, Any, bool]]:
        """Name and value of each field, and whether it is optional: None where it is not there."""
        for name, value in vars(self).items():
            yield name, value, False


def is_bundle(value: Any, _around: tuple[int, ...] = ()) -> bool:
    """Whether ``value`` is an object with signals, on its own or in a bundle inside."""
    if callable(value) or isinstance(value, ModuleType | Block | Instantiator):
        return False
    if not hasattr(value, "__dict__") or id(value) in _around:  # objects may refer to each other
        return False
    around = (*_around, id(value))
    return any(isinstance(v, AnySignal) or is_bundle(v, around) for v in vars(value).values())


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
