"""Resolve the names that a process shares with its block and its module."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable
from types import FunctionType
from typing import Any

from merp.hdl.conversion.base.internals import AnySignal
from merp.hdl.fast_simulation.quick_signals import SignalKind, signal_kind

Path = tuple[str, ...]
Question = Callable[[Any], Any]
Answers = dict[tuple[Question, Path], Any]

_NOTHING = object()


def element_kind(value: Any) -> SignalKind | None:
    """Return the common kind of all signals of a list; None if there is none."""
    if type(value) is not list or not value:
        return None
    first = signal_kind(value[0])
    return first if all(signal_kind(each) == first for each in value) else None


def is_number(value: Any) -> bool:
    """Check whether a value is an integer or a bool."""
    return type(value) in (int, bool)


def is_table(value: Any) -> bool:
    """Check whether a value is a tuple of integers."""
    return type(value) is tuple and all(is_number(each) for each in value)


def number(value: Any) -> int | None:
    """Return the value of an integer; None for anything else."""
    return int(value) if is_number(value) else None


def builtin(value: Any) -> str | None:
    """Return the name of a function that returns integers."""
    known = (function.__name__ for function in (bool, int, len, range) if value is function)
    return next(known, None)


class FreeNames:
    """The names of a process that are not its own variables.

    Attributes:
        answers: answers to all questions so far, by question and path.
    """

    def __init__(self, process: FunctionType) -> None:
        code = process.__code__
        self._process = process
        self._cells = dict(zip(code.co_freevars, process.__closure__ or (), strict=True))
        self._own = {*code.co_varnames, *code.co_cellvars}
        self.answers: Answers = {}

    def ask(self, question: Question, node: ast.expr) -> Any:
        """Return the answer about a name or an attribute; None for other nodes."""
        path: Path = ()
        while isinstance(node, ast.Attribute):
            path = (node.attr, *path)
            node = node.value
        if not isinstance(node, ast.Name) or node.id in self._own:
            return None
        asked = question, (node.id, *path)
        if asked not in self.answers:
            self.answers[asked] = self._answer(*asked)
        return self.answers[asked]

    def same(self, answers: Answers) -> bool:
        """Check whether all answers would be the same for another process."""
        return all(self._answer(*asked) == answer for asked, answer in answers.items())

    def _answer(self, question: Question, path: Path) -> Any:
        name, *attributes = path
        if name in self._cells:
            try:
                value = self._cells[name].cell_contents
            except ValueError:  # the name has no value yet
                return None
        else:
            known = self._process.__globals__
            value = known[name] if name in known else getattr(builtins, name, _NOTHING)
        for each in attributes:
            if isinstance(value, AnySignal):
                return None
            value = getattr(value, "__dict__", {}).get(each, _NOTHING)
        return question(value)

    @property
    def shared(self) -> tuple[str, ...]:
        """Return the names of the block that the process uses."""
        return tuple(self._cells)

    def bind(self, code: Any) -> FunctionType:
        """Make a function of ``code`` with the cells, globals and name of the process."""
        process = self._process
        closure = tuple(self._cells[name] for name in code.co_freevars)
        return FunctionType(code, process.__globals__, process.__name__, None, closure)
