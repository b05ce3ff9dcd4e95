"""Represent functions that are read, their names, and the known properties of their variables."""

from __future__ import annotations

import ast
import builtins
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import CodeType
from typing import Any, NoReturn

from merp.hdl.conversion.base.errors import ExportError
from merp.hdl.conversion.base.function_source import source_of, syntax_of
from merp.hdl.conversion.process.meaning import Expr, Variable
from merp.hdl.conversion.process.ranges import Range

PAGE = "docs/conversion.md#refused"
"""The page that explains each refusal."""

MISSING = object()
"""The object of an undefined name."""


@dataclass(frozen=True)
class Vector:
    """A vector that is computed: its value, and the bounds that assignments in place keep.

    Attributes:
        value: its value.
        bounds: None for a vector without a number of bits.
        wraps: whether a value beyond the bounds is wrapped into them, as in a modbv.
    """

    value: Expr
    bounds: Range | None
    wraps: bool


@dataclass(frozen=True)
class Known:
    """The known properties of a variable at a place.

    Attributes:
        range: of its values.
        length: the result of ``len``, or None.
        is_bool: whether it is a bool.
        is_vector: whether it is an intbv, which is changed in place.
        bounds: of a vector.
        wraps: as in ``Vector``.
        enum: of an enumeration's member.
    """

    range: Range
    length: int | None = None
    is_bool: bool = False
    is_vector: bool = False
    bounds: Range | None = None
    wraps: bool = False
    enum: Any = None

    def joined(self, other: Known) -> Known:
        """Return the properties that hold for either."""
        kinds = [
            (k.length, k.is_bool, k.is_vector, k.bounds, k.wraps, k.enum) for k in (self, other)
        ]
        found = self.range | other.range
        return replace(self, range=found) if kinds[0] == kinds[1] else Known(found, enum=self.enum)


State = dict[Variable, Known]
"""The variables that have a value at a place."""


def joined(states: list[State]) -> State | None:
    """Return the state at the end of several paths: variables with a value on each of them."""
    if not states:
        return None
    first, *rest = states
    found = dict(first)
    for other in rest:
        found = {each: known.joined(other[each]) for each, known in found.items() if each in other}
    return found


@dataclass
class Frame:
    """One reading of a function: the process, or a helper at one of its calls.

    Attributes:
        block: name of the block, for refusals.
        tree: the function's syntax.
        file: its name.
        before: lines of the file before the tree.
        outer: objects of the names that it does not assign.
        bound: names that always mean the same object or expression.
        variables: by name.
        stores: number of assignments of each name.
        changed: names that are changed in place.
        around: of the surrounding function, if that is read too.
        result: the variable for its value, once one is needed.
        done: set when a loop has found the result.
    """

    block: str
    tree: ast.FunctionDef
    file: str
    before: int
    outer: Mapping[str, Any]
    bound: dict[str, Any] = field(default_factory=dict)
    variables: dict[str, Variable] = field(default_factory=dict)
    stores: Counter[str] = field(default_factory=Counter)
    changed: set[str] = field(default_factory=set)
    around: Frame | None = None
    result: Variable | None = None
    done: Variable | None = None

    def __post_init__(self) -> None:
        """Count the assignments of each name."""
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                self.stores[node.id] += 1
            target: ast.expr | None = None
            if isinstance(node, ast.AugAssign):
                target = node.target
            elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
                target = node.value
            while isinstance(target, ast.Subscript):
                target = target.value
            if isinstance(target, ast.Name):
                self.changed.add(target.id)

    def variable(self, name: str) -> Variable | None:
        """Return the variable of a name, of this function or of a surrounding one."""
        if name in self.variables or self.around is None or name in self.bound:
            return self.variables.get(name)
        return self.around.variable(name)

    def find(self, name: str) -> Any:
        """Return the object of a name outside the function, or ``MISSING``."""
        if name in self.bound:
            return self.bound[name]
        if self.around is not None:
            return self.around.find(name)
        if name in self.outer:
            return self.outer[name]
        return getattr(builtins, name, MISSING)

    def refuse(self, node: ast.AST, what: str, way_out: str) -> NoReturn:
        """Refuse a statement in one line, with its place and an alternative.

        Raises:
            ExportError: always.
        """
        line = self.before + int(getattr(node, "lineno", self.tree.lineno))
        raise ExportError(f"{self.block}: {self.file} line {line}: {what}; {way_out} ({PAGE})")


@dataclass(frozen=True)
class LocalFunction:
    """A function that is defined within another one: its syntax, and the surrounding frame."""

    tree: ast.FunctionDef
    around: Frame

    def frame(self) -> Frame:
        """Return a frame for one of its calls."""
        around = self.around
        return Frame(
            around.block, self.tree, around.file, around.before, around.outer, around=around
        )


def outer_names(function: Any) -> dict[str, Any]:
    """Return the objects that a function finds in its module and in its closure."""
    found = dict(function.__globals__)
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            found[name] = cell.cell_contents
        except ValueError:  # assigned later, or never
            continue
    return found


def frame_of(block: str, code: CodeType, outer: Mapping[str, Any]) -> Frame:
    """Return a frame for a function that has its source.

    Raises:
        ExportError: it has no source, or is a lambda.
    """
    try:
        source = source_of(code)
        found = [
            each
            for each in ast.walk(syntax_of(source.as_it_is))
            if isinstance(each, ast.FunctionDef) and each.name == code.co_name
        ]
    except (OSError, SyntaxError):
        found = []
    if not found:
        raise ExportError(
            f"{block}: function {code.co_name} has no source of its own; write it with def"
        )
    file = Path(source.file or code.co_filename).name
    return Frame(block, found[0], file, source.before, outer)
