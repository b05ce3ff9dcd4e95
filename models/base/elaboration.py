"""The text of a design that identifies what was elaborated."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import Any


def elaboration(name: str, design: Any, options: Sequence[str] = ()) -> str:
    """Every field of a dataclass with its value.

    Args:
        name: in front of the fields. It does not follow the name of the class, because a bitstream
            keeps its identity when a class gets another name.
        design: a dataclass. options: fields that are left out while they have their defaults.
    """
    values = ((each, getattr(design, each.name)) for each in fields(design))
    shown = (
        f"{each.name}={value!r}"
        for each, value in values
        if each.name not in options or value != each.default
    )
    return f"{name}({', '.join(shown)})"
