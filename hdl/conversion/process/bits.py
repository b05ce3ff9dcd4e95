"""Define statements and values with bits, which both languages print.

A vector has a width and a type, signed or unsigned. A flag is a single bit, or a condition. Both
operands of an operator have its width. Therefore no language rule for unequal operands is used.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from merp.hdl.conversion.process.meaning import Table, Variable


@dataclass(frozen=True, eq=False, slots=True)
class Integer:
    """An integer that is known while the hardware is built: a number, or made of loop variables.

    Attributes:
        op: ``""`` for a number or variable; otherwise ``+``, ``-``, ``*``, ``//``, ``%``, ``**``.
        value: the number.
        variable: of a loop.
        left, right: operands.
    """

    op: str = ""
    value: int = 0
    variable: Variable | None = None
    left: Integer | None = None
    right: Integer | None = None


@dataclass(frozen=True, eq=False, slots=True)
class Place:
    """A signal, a variable, or an element of a list of signals."""

    what: Any
    index: Integer | Vector | None = None


# Vectors


@dataclass(frozen=True, eq=False, slots=True)
class Vector:
    """A vector of bits."""

    width: int
    signed: bool


@dataclass(frozen=True, eq=False, slots=True)
class Literal(Vector):
    """A number that fits into these bits."""

    value: int


@dataclass(frozen=True, eq=False, slots=True)
class Name(Vector):
    """The content of a place."""

    place: Place


@dataclass(frozen=True, eq=False, slots=True)
class Part(Vector):
    """Bits ``low + width - 1`` to ``low`` of a place, with the type of the place."""

    place: Place
    low: int


@dataclass(frozen=True, eq=False, slots=True)
class Resized(Vector):
    """A vector with more bits, filled according to its type, or only its low ones."""

    value: Vector


@dataclass(frozen=True, eq=False, slots=True)
class Cast(Vector):
    """The same bits with the other type."""

    value: Vector


@dataclass(frozen=True, eq=False, slots=True)
class Operation(Vector):
    """``+``, ``-``, ``&``, ``|``, ``^`` of the same width and type."""

    op: str
    left: Vector
    right: Vector


@dataclass(frozen=True, eq=False, slots=True)
class Product(Vector):
    """A product of operands of one type, as wide as both together."""

    left: Vector
    right: Vector


@dataclass(frozen=True, eq=False, slots=True)
class Quotient(Vector):
    """``/`` or ``%`` of unsigned operands of the same width."""

    op: str
    left: Vector
    right: Vector


@dataclass(frozen=True, eq=False, slots=True)
class Shift(Vector):
    """``<<``, or ``>>`` which fills according to the type; the count is a number or unsigned."""

    op: str
    value: Vector
    count: int | Vector


@dataclass(frozen=True, eq=False, slots=True)
class Inverse(Vector):
    """``~`` or ``-``."""

    op: str
    value: Vector


@dataclass(frozen=True, eq=False, slots=True)
class Either(Vector):
    """One of two vectors of the same width and type."""

    test: Flag
    yes: Vector
    no: Vector


@dataclass(frozen=True, eq=False, slots=True)
class Joined(Vector):
    """Concatenated parts, the highest first."""

    parts: tuple[Vector | Flag, ...]


@dataclass(frozen=True, eq=False, slots=True)
class OfFlag(Vector):
    """A flag as an unsigned vector of one bit."""

    flag: Flag


@dataclass(frozen=True, eq=False, slots=True)
class OfInteger(Vector):
    """The variable of a loop, or an expression of it, as a vector."""

    integer: Integer


@dataclass(frozen=True, eq=False, slots=True)
class Entry(Vector):
    """An entry of a table, which is extended to the full range of its index."""

    table: Table
    index: Vector


# Flags


@dataclass(frozen=True, eq=False, slots=True)
class Flag:
    """A single bit, or a condition."""


@dataclass(frozen=True, eq=False, slots=True)
class Bool(Flag):
    """A constant."""

    value: bool


@dataclass(frozen=True, eq=False, slots=True)
class Wire(Flag):
    """The content of a place of a single bit."""

    place: Place


@dataclass(frozen=True, eq=False, slots=True)
class At(Flag):
    """A bit of a place of ``width`` bits."""

    place: Place
    width: int
    index: int | Integer | Vector


@dataclass(frozen=True, eq=False, slots=True)
class Compared(Flag):
    """A comparison of vectors of the same width and type, of flags, or of enumerations."""

    op: str
    left: Vector | Flag | Member
    right: Vector | Flag | Member


@dataclass(frozen=True, eq=False, slots=True)
class Gate(Flag):
    """``and``, ``or`` or ``xor`` of flags."""

    op: str
    operands: tuple[Flag, ...]


@dataclass(frozen=True, eq=False, slots=True)
class Inverted(Flag):
    """The other value of a flag."""

    flag: Flag


@dataclass(frozen=True, eq=False, slots=True)
class EitherFlag(Flag):
    """One of two flags."""

    test: Flag
    yes: Flag
    no: Flag


# Enumerations


@dataclass(frozen=True, eq=False, slots=True)
class Member:
    """A value of an enumeration."""


@dataclass(frozen=True, eq=False, slots=True)
class MemberName(Member):
    """The content of a place."""

    place: Place


@dataclass(frozen=True, eq=False, slots=True)
class MemberConst(Member):
    """A member."""

    item: Any


@dataclass(frozen=True, eq=False, slots=True)
class EitherMember(Member):
    """One of two members."""

    test: Flag
    yes: Member
    no: Member


Value = Vector | Flag | Member

# Statements


@dataclass(frozen=True, eq=False, slots=True)
class Target:
    """The target of an assignment: a place of ``width`` bits, a part of it, or one bit of it.

    Attributes:
        width: of the whole place; None for a single bit or a member of an enumeration.
        signed: type of the place.
        high, low: of a part.
        index: of a single bit.
    """

    place: Place
    width: int | None = None
    signed: bool = False
    high: int | None = None
    low: int | None = None
    index: int | Integer | Vector | None = None


@dataclass(frozen=True, eq=False, slots=True)
class Assignment:
    """A value for a target."""

    target: Target
    value: Value


@dataclass(frozen=True, eq=False, slots=True)
class Branches:
    """An if with its branches."""

    branches: tuple[tuple[Flag, Sequence[Statement]], ...]
    otherwise: Sequence[Statement]


@dataclass(frozen=True, eq=False, slots=True)
class Selection:
    """A case; ``labels`` are literals of the subject's width or members of its enumeration."""

    subject: Vector | Member
    branches: tuple[tuple[tuple[Literal | MemberConst, ...], Sequence[Statement]], ...]
    otherwise: Sequence[Statement]
    is_full: bool


@dataclass(frozen=True, eq=False, slots=True)
class Loop:
    """The body for ``count`` values of a variable."""

    variable: Variable
    start: int
    step: int
    count: int
    body: Sequence[Statement]


@dataclass(frozen=True, eq=False, slots=True)
class Leave:
    """Leave the innermost loop, or continue with its next round."""

    goes_on: bool


Statement = Assignment | Branches | Selection | Loop | Leave


def reads_signals(statements: Sequence[Statement]) -> bool:
    """Return whether statements read a signal or a list of signals; variables do not count."""
    return any(_reads(each) for each in statements)


def _reads(node: Any) -> bool:
    if isinstance(node, Target):
        return any(_reads(each) for each in (node.index, node.place.index))
    if isinstance(node, Place):
        return not isinstance(node.what, Variable) or _reads(node.index)
    if isinstance(node, tuple | list):
        return any(_reads(each) for each in node)
    if isinstance(node, Table | Variable) or not hasattr(node, "__dataclass_fields__"):
        return False
    return any(_reads(getattr(node, name)) for name in node.__dataclass_fields__)
