"""Evaluate names and attributes: to objects if Python knows them, otherwise to ``Expr``."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NoReturn, Protocol

from myhdl import EnumItemType, intbv

from merp.hdl.conversion.base.internals import (
    AnySignal,
    Constant,
    OpenPort,
    enum_of,
)
from merp.hdl.conversion.process import build
from merp.hdl.conversion.process.frame import MISSING, Frame, Known, State, Vector
from merp.hdl.conversion.process.meaning import (
    Element,
    EnumConst,
    Expr,
    Local,
    Meaning,
    Read,
    Variable,
)
from merp.hdl.conversion.process.ranges import Range, signed, unsigned


class Inline(Protocol):
    """Reader of a helper function at one of its calls."""

    def __call__(self, node: ast.Call, function: Any, arguments: Sequence[Any]) -> Any:
        """Return the value of the call."""


class Method:
    """``signed`` or ``unsigned`` of a vector."""

    def __init__(self, value: Any, name: str) -> None:
        self.value, self.name = value, name


def is_hardware(value: Any) -> bool:
    """Return whether a value is only known while the hardware runs."""
    if isinstance(value, list | tuple):
        return any(is_hardware(each) for each in value)
    return isinstance(value, Expr | Vector | Variable | AnySignal)


class Values:
    """Values of the expressions of one process.

    Attributes:
        frame: the function that is read.
        state: its variables here.
        meaning: of the process; it notes the signals that are read.
        inline: reads helper functions.
    """

    def __init__(self, meaning: Meaning, inline: Inline) -> None:
        self.meaning = meaning
        self.inline = inline
        self.frame: Frame
        self.state: State = {}

    def expr(self, node: ast.expr) -> Expr:
        """Return the value of an expression that is a number, a bool or an enumeration's member."""
        return self.as_expr(node, self.value(node))

    def test(self, node: ast.expr) -> Expr:
        """Return the value of a condition."""
        value = self.value(node)
        if not is_hardware(value):
            return build.const(bool(value))
        return build.truth(self.as_expr(node, value))

    def as_expr(self, node: ast.AST, value: Any) -> Expr:
        """Return a value as an expression, and note the signals that are read for it."""
        if isinstance(value, Vector):
            return value.value
        if isinstance(value, Expr):
            if isinstance(value, Element):
                self.meaning.memories_read.setdefault(id(value.memory), value.memory)
            return value
        if isinstance(value, AnySignal):
            return self.read(node, value)
        if isinstance(value, intbv):
            length = len(value) or None
            return build.const(int(value), length)
        if isinstance(value, bool | int):
            return build.const(value)
        if isinstance(value, EnumItemType):
            self._note_enum(value)
            return EnumConst(value)
        self.refuse(
            node,
            f"a {type(value).__name__} is no value of hardware",
            "use numbers, bools, vectors and members of an enum",
        )

    def _note_enum(self, item: Any) -> None:
        """Note the enumeration of a member, and its name in the function."""
        enum = enum_of(item)
        if self.meaning.enums.get(id(enum), (enum, None))[1] is None:
            name = next((name for name, held in self.frame.outer.items() if held is enum), None)
            self.meaning.enums[id(enum)] = enum, name

    def read(self, node: ast.AST, signal: Any) -> Expr:
        """Return the value of a signal."""
        held = signal.val
        if isinstance(signal, OpenPort):
            self.refuse(node, "an open port is read", "connect a signal")
        if isinstance(signal, Constant):
            return (
                build.const(held) if isinstance(held, bool) else build.const(int(held), len(signal))
            )
        self.meaning.reads.setdefault(id(signal), signal)
        if isinstance(held, bool):
            return Read(signal, is_bool=True, length=1)
        if isinstance(held, EnumItemType):
            self._note_enum(held)
            return Read(signal)
        if isinstance(held, intbv) and len(signal):
            return Read(signal, range=Range(held.min, held.max - 1), length=len(signal))
        self.refuse(
            node, "a signal has no fixed number of bits", "give it one: Signal(intbv(0)[8:])"
        )

    def refuse(self, node: ast.AST, what: str, way_out: str) -> NoReturn:
        """Refuse an expression.

        Raises:
            ExportError: always.
        """
        self.frame.refuse(node, what, way_out)

    def value(self, node: ast.expr) -> Any:
        """Return an object of Python, an ``Expr`` or a ``Vector``."""
        method = getattr(self, f"_{type(node).__name__}", None)
        if method is None:
            kind = type(node).__name__
            self.refuse(node, f"a {kind} has no hardware", "compute it outside of the process")
        try:
            return method(node)
        except build.TooWide:
            self.refuse(
                node, "no finite range follows for a value", "keep it in an intbv with bounds"
            )

    def computed(self, node: ast.AST, compute: Callable[[], Any]) -> Any:
        """Let Python compute a value, and refuse its errors at this place."""
        try:
            return compute()
        except Exception as error:
            self.refuse(node, f"Python fails with {type(error).__name__}: {error}", "correct it")

    def _Constant(self, node: ast.Constant) -> Any:
        return node.value

    def _Name(self, node: ast.Name) -> Any:
        variable = self.frame.variable(node.id)
        if variable is not None:
            known = self.state.get(variable)
            if known is None:
                self.refuse(
                    node,
                    f"variable {node.id} may have no value here",
                    "assign it on every path that leads here",
                )
            return self.of_variable(variable, known)
        found = self.frame.find(node.id)
        if found is MISSING:
            self.refuse(node, f"name {node.id} is not defined", "define it before the process")
        return found

    def of_variable(self, variable: Variable, known: Known) -> Any:
        """Return the value of a variable."""
        if known.enum is not None:
            return Local(variable)
        value = Local(variable, range=known.range, length=known.length, is_bool=known.is_bool)
        return Vector(value, known.bounds, known.wraps) if known.is_vector else value

    def _Attribute(self, node: ast.Attribute) -> Any:
        base = self.value(node.value)
        name = node.attr
        if isinstance(base, Expr | Vector | AnySignal | intbv):
            if name == "val":
                return self.as_expr(node, base) if isinstance(base, AnySignal) else base
            if name in ("signed", "unsigned"):
                return Method(base, name)
            if name in ("min", "max"):
                return self._bound(node, base, name)
            if name == "next":
                self.refuse(
                    node,
                    "the next value of a signal is read",
                    "read the signal, or keep the value in a variable",
                )
            if isinstance(base, AnySignal) and name in ("posedge", "negedge", "active", "isasync"):
                return getattr(base, name)
            self.refuse(
                node,
                f"attribute {name} of a signal or vector has no hardware",
                "allowed are next, val, min, max, signed() and unsigned()",
            )
        try:
            return getattr(base, name)
        except AttributeError:
            kind = type(base).__name__
            self.refuse(node, f"a {kind} has no attribute {name}", "define it before the process")

    def _bound(self, node: ast.AST, base: Any, name: str) -> Any:
        if isinstance(base, AnySignal | intbv):
            return getattr(base, name)
        bounds = base.bounds if isinstance(base, Vector) else None
        if bounds is None:
            self.refuse(
                node, f"{name} of a value without bounds", "use that of a signal or an intbv"
            )
        return bounds.low if name == "min" else bounds.high + 1

    def _Tuple(self, node: ast.Tuple) -> Any:
        return tuple(self.value(each) for each in node.elts)

    def _List(self, node: ast.List) -> Any:
        return [self.value(each) for each in node.elts]


def within(value: Expr, bounds: Range) -> Expr:
    """Return a value that is known to be within bounds."""
    return replace(value, range=value.range.within(bounds))


def as_integer(value: Expr) -> Expr:
    """Return a value as an integer of Python, which has no number of bits."""
    return replace(value, length=None, is_bool=False)


def is_vector(value: Any) -> bool:
    """Return whether the value is an intbv in Python, or a signal with an intbv."""
    return isinstance(value, Vector | intbv) or (
        isinstance(value, AnySignal) and isinstance(value.val, intbv)
    )


def wrapped(value: Expr, bounds: Range) -> Expr:
    """Wrap a value as a modbv does."""
    if value.range in bounds:
        return value
    width = bounds.width
    if bounds == unsigned(width):
        return build.part(value, width, 0)
    if bounds == signed(width):
        return build.as_signed(build.part(value, width, 0))
    low = build.const(bounds.low)
    size = build.const(bounds.high - bounds.low + 1)
    return build.binary("+", build.binary("%", build.binary("-", value, low), size), low)
