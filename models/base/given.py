"""Names of options or arguments in error messages.

The code below the command line and the library calls ``given("batch", 0)``. On the command line the
result is ``--batch 0``. Inside ``as_arguments()``, where the library calls the same code, it is
``batch = 0``.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from merp.models.base.errors import shown

OPTIONS = {
    "clock_mhz": "--clock", "goal": "--for", "goals": "--for",
    "memory_bytes": "--memory", "output": "-o", "x": "--input FILE.npz",
}  # fmt: skip
"""Options whose name is not the argument's name with dashes in place of underscores."""

_arguments: ContextVar[bool] = ContextVar("_arguments", default=False)


@contextmanager
def as_arguments() -> Iterator[None]:
    """Inside the context, name values as arguments in Python."""
    before = _arguments.set(True)
    try:
        yield
    finally:
        _arguments.reset(before)


def name_of(argument: str) -> str:
    """Return ``argument`` as the user wrote it: ``delta_at``, or ``--delta-at``."""
    if _arguments.get():
        return argument
    return OPTIONS.get(argument, f"--{argument.replace('_', '-')}")


def given(argument: str, value: object) -> str:
    """Return an argument and its value to begin a message: ``batch = 0``, or ``--batch 0``."""
    if not _arguments.get():
        return f"{name_of(argument)} {value}"
    plain = os.fspath(value) if isinstance(value, os.PathLike) else value
    return f"{argument} = {shown(plain)}"


def mention(argument: str, value: object) -> str:
    """Return an argument and its value inside a sentence: ``engine ghdl``, or ``--engine ghdl``."""
    return f"{name_of(argument)} {value}"
