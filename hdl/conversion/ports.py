"""Define ports of an entity that share one argument."""

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
        """Yield name and value of each field, and whether it is optional; it is None if absent."""
        for name, value in vars(self).items():
            yield name, value, False


def is_bundle(value: Any, _around: tuple[int, ...] = ()) -> bool:
    """Return whether ``value`` is an object with signals, directly or in an inner bundle."""
    if callable(value) or isinstance(value, ModuleType | Block | Instantiator):
        return False
    if not hasattr(value, "__dict__") or id(value) in _around:  # objects may refer to each other
        return False
    around = (*_around, id(value))
    return any(isinstance(v, AnySignal) or is_bundle(v, around) for v in vars(value).values())


def apart(arguments: Mapping[str, Any]) -> Iterator[tuple[str, Any, bool]]:
    """Yield name, value and whether optional of each argument, or of each field of ``Ports``."""
    for name, value in arguments.items():
        if isinstance(value, Ports):
            yield from value.fields()
        else:
            yield name, value, False


def prefix_of(name: str, value: object) -> str:
    """Return the prefix of the port names of a bundle; ``name``: of the bundle itself."""
    return "" if isinstance(value, Ports) else f"{name}_"
