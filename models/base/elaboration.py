"""The text that identifies an elaborated design."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import Any


def elaboration(name: str, design: Any, options: Sequence[str] = ()) -> str:
    """Return every field of a dataclass with its value.

    Args:
        name: written before the fields. It is independent of the name of the class, because a
            bitstream keeps its identity when the class is renamed.
        design: a dataclass.
        options: fields that are omitted if they have their defaults.
    """
    values = ((each, getattr(design, each.name)) for each in fields(design))
    shown = (
        f"{each.name}={value!r}"
        for each, value in values
        if each.name not in options or value != each.default
    )
    return f"{name}({', '.join(shown)})"
