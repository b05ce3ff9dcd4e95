"""How a complaint names what was given: options of the command line, or arguments in Python.

The work below both says ``given("batch", 0)``: on the command line that is ``--batch 0``, and
inside ``as_arguments()``, where the library calls it, ``batch = 0``.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from merp.models.base.errors import shown

OPTIONS = {
    "clock_mhz": "--clock", "goal": "--for", "goals": "--for", "learning_rate": "--lr",
    "memory_bytes": "--memory", "output": "-o", "x": "--input FILE.npz",
}  # fmt: skip
"""Options that are not called as their argument is, with a dash for each underscore."""

_arguments: ContextVar[bool] = ContextVar("_arguments", default=False)


@contextmanager
def as_arguments() -> Iterator[None]:
    """Inside, what was given is named as an argument in Python."""
    before = _arguments.set(True)
    try:
        yield
    finally:
        _arguments.reset(before)


def name_of(argument: str) -> str:
    """``argument`` as it was written: ``delta_at``, or ``--delta-at``."""
    if _arguments.get():
        return argument
    return OPTIONS.get(argument, f"--{argument.replace('_', '-')}")


def given(argument: str, value: object) -> str:
    """An argument and its value, at the head of a complaint: ``batch = 0``, or ``--batch 0``."""
    if not _arguments.get():
        return f"{name_of(argument)} {value}"
    plain = os.fspath(value) if isinstance(value, os.PathLike) else value
    return f"{argument} = {shown(plain)}"


def mention(argument: str, value: object) -> str:
    """An argument and its value inside a sentence: ``engine ghdl``, or ``--engine ghdl``."""
    return f"{name_of(argument)} {value}"
