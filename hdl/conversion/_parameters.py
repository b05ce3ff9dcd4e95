"""Distinguish the values of a parameter. Private to ``merp.hdl.conversion``.

A parameter belongs to the configuration of an entity. Therefore two values that may lead to
different hardware must be distinct in every run. Numbers and strings are identified by their text.
This module describes dictionaries, functions and objects. A value that no description can cover is
refused.
"""

from __future__ import annotations

import dataclasses
import enum
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from types import FunctionType, MethodType
from typing import Any

from myhdl import EnumItemType

from merp.hdl.conversion.base.internals import BlockDecorator, EnumType, OpenPort, literal_name


class Undescribed(Exception):
    """A value that no text describes, such as a signal within a list."""


@dataclass(frozen=True)
class Same:
    """An object that is only equal to itself."""

    value: Any

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Same) and self.value is other.value

    def __hash__(self) -> int:
        return id(self.value)


@dataclass(frozen=True)
class Described:
    """A parameter whose own text does not identify it.

    Attributes:
        text: its description in the exported files.
        key: equal for equal hardware.
        value: the object, if its attributes identify it completely.
    """

    text: str
    key: object
    value: Any = None

    def __repr__(self) -> str:
        return self.text


def is_stable(value: Any) -> bool:
    """Return whether ``repr(value)`` identifies the value in every run."""
    if value is None or isinstance(value, bool | int | float | str | enum.Enum):
        return True
    if isinstance(value, tuple):
        return all(is_stable(item) for item in value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return value.__dataclass_params__.frozen and all(  # type: ignore[attr-defined]
            is_stable(getattr(value, item.name)) for item in dataclasses.fields(value)
        )
    return False


def key_of(value: Any) -> object:
    """Return a key that is equal for two parameters that lead to the same hardware."""
    return value.key if isinstance(value, Described) else repr(value)


def described(value: Any, around: tuple[int, ...] = ()) -> Described:
    """Describe a parameter that is not a number, by its text and its key.

    Raises:
        Undescribed: it contains a signal, or a part that may change without notice.
    """
    if is_stable(value):
        return Described(repr(value), (type(value), repr(value)))
    if id(value) in around:
        raise Undescribed
    around = (*around, id(value))
    if isinstance(value, OpenPort):
        return Described("open", "open")
    if isinstance(value, EnumType):
        return Described(repr(value), Same(value))
    if isinstance(value, EnumItemType):
        return Described(literal_name(value), Same(value))
    if isinstance(value, BlockDecorator):
        return Described(_name(value.func), (Same(value), _around(value.func, around)))
    if isinstance(value, FunctionType):
        return Described(_name(value), (Same(value), _around(value, around)))
    if isinstance(value, MethodType):
        owner = described(value.__self__, around)
        return Described(f"{owner.text}.{value.__name__}", (Same(value.__func__), owner.key))
    if isinstance(value, type):
        return Described(_name(value), Same(value))
    if type(value) in (list, tuple):
        items = [described(each, around) for each in value]
        first, last = "[]" if isinstance(value, list) else "()"
        return Described(f"{first}{_listed(items)}{last}", (type(value), _keys(items)))
    if type(value) is dict:
        rows = [(described(key, around), described(each, around)) for key, each in value.items()]
        text = ", ".join(f"{key.text}: {each.text}" for key, each in rows)
        return Described(f"{{{text}}}", tuple((key.key, each.key) for key, each in rows))
    return _object(value, around)


def _object(value: Any, around: tuple[int, ...]) -> Described:
    """Describe an object of a class in Python code by all its attributes."""
    if not hasattr(value, "__dict__") or not all(map(_is_plain, type(value).__mro__[:-1])):
        raise Undescribed
    parts = {name: described(each, around) for name, each in vars(value).items()}
    text = ", ".join(f"{name}={each.text}" for name, each in parts.items())
    key = tuple((name, each.key) for name, each in parts.items())
    return Described(f"{type(value).__name__}({text})", (Same(type(value)), key), value)


def _is_plain(kind: type) -> bool:
    """Return whether the objects of a class only have attributes; MyHDL's have hidden state.

    A class in C, such as a list or a random generator, has more data than ``vars`` shows.
    """
    module = sys.modules.get(kind.__module__)
    is_python = (
        str(getattr(module, "__file__", "")).endswith(".py") or kind.__module__ == "__main__"
    )
    is_myhdl = kind.__module__.partition(".")[0] == "myhdl"
    return is_python and not is_myhdl and not vars(kind).get("__slots__")


def _around(function: Any, around: tuple[int, ...]) -> tuple[object, ...]:
    """Return the closure and the defaults of a function; a signal in them is a hidden port."""
    held = [*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()]
    for cell in function.__closure__ or ():
        try:
            held.append(cell.cell_contents)
        except ValueError:  # assigned later, or never
            raise Undescribed from None
    return _keys(described(each, around) for each in held if each is not function)


def _keys(items: Iterable[Described]) -> tuple[object, ...]:
    return tuple(each.key for each in items)


def _listed(items: Iterable[Described]) -> str:
    return ", ".join(each.text for each in items)


def _name(value: Any) -> str:
    """Return the name of a function or a class, without the functions around it."""
    return str(value.__qualname__).rpartition(".<locals>.")[2]
