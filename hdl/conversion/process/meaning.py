"""Represent the meaning of a process: statements over integers, as Python computes them.

A node only has a number of bits if Python knows one: of a vector (``length``), a slice, a
concatenation. Every expression has the range of its values instead.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from merp.hdl.conversion.process.ranges import BIT, Range


@dataclass(frozen=True, eq=False, slots=True)
class Expr:
    """A value.

    Attributes:
        range: of its values.
        length: the result of ``len``; None for an integer, which has no number of bits.
        is_bool: whether it is a bool; its range is then 0 to 1.
    """

    range: Range = field(kw_only=True, default=BIT)
    length: int | None = field(kw_only=True, default=None)
    is_bool: bool = field(kw_only=True, default=False)


@dataclass(frozen=True, eq=False, slots=True)
class Const(Expr):
    """A number."""

    value: int


@dataclass(frozen=True, eq=False, slots=True)
class EnumConst(Expr):
    """A member of an enumeration."""

    item: Any


@dataclass(frozen=True, eq=False, slots=True)
class Read(Expr):
    """A signal's value."""

    signal: Any


@dataclass(frozen=True, eq=False, slots=True)
class Local(Expr):
    """The value of a local variable."""

    variable: Variable


@dataclass(frozen=True, eq=False, slots=True)
class Index(Expr):
    """The variable of a loop."""

    variable: Variable


@dataclass(frozen=True, eq=False, slots=True)
class Element(Expr):
    """The element of a list of signals."""

    memory: Any
    index: Expr


@dataclass(frozen=True, eq=False, slots=True)
class Lookup(Expr):
    """The element of a tuple of numbers."""

    table: Table
    index: Expr


@dataclass(frozen=True, eq=False, slots=True)
class Binary(Expr):
    """``left op right``; ``op`` as in ``ranges.BINARY``."""

    op: str
    left: Expr
    right: Expr


@dataclass(frozen=True, eq=False, slots=True)
class Unary(Expr):
    """``op operand``; ``op`` as in ``ranges.UNARY``."""

    op: str
    operand: Expr


@dataclass(frozen=True, eq=False, slots=True)
class Compare(Expr):
    """``left op right``: ``==``, ``!=``, ``<``, ``<=``, ``>``, ``>=``."""

    op: str
    left: Expr
    right: Expr


@dataclass(frozen=True, eq=False, slots=True)
class Logic(Expr):
    """``and`` or ``or`` of bools."""

    op: str
    operands: tuple[Expr, ...]


@dataclass(frozen=True, eq=False, slots=True)
class Not(Expr):
    """The inverted bool."""

    operand: Expr


@dataclass(frozen=True, eq=False, slots=True)
class Choice(Expr):
    """``yes if test else no``."""

    test: Expr
    yes: Expr
    no: Expr


@dataclass(frozen=True, eq=False, slots=True)
class Slice(Expr):
    """Bits ``high - 1`` to ``low`` in two's complement, unsigned."""

    value: Expr
    high: int
    low: int


@dataclass(frozen=True, eq=False, slots=True)
class Bit(Expr):
    """One bit in two's complement."""

    value: Expr
    index: Expr


@dataclass(frozen=True, eq=False, slots=True)
class Concat(Expr):
    """Concatenated values, each with its number of bits."""

    parts: tuple[tuple[Expr, int], ...]


@dataclass(frozen=True, eq=False, slots=True)
class Signed(Expr):
    """The low ``bits`` bits as a number in two's complement."""

    value: Expr
    bits: int


def parts_of(value: Expr) -> Iterator[Expr]:
    """Yield an expression and all its parts."""
    yield value
    for name in value.__dataclass_fields__:
        held = getattr(value, name)
        for each in held if isinstance(held, tuple) else (held,):
            inner = each[0] if isinstance(each, tuple) else each
            if isinstance(inner, Expr):
                yield from parts_of(inner)


@dataclass(eq=False, slots=True)
class Variable:
    """A local variable.

    Attributes:
        name: in the source; the printed text may need another one.
        range: of all its values.
        is_bool: whether all values are bools.
        enum: the enumeration of all values, or None.
        initial: its value before the first run of the process, if it keeps its value between runs;
            for a member, its place in the enumeration.
    """

    name: str
    range: Range | None = None
    is_bool: bool = True
    enum: Any = None
    initial: int | None = None


@dataclass(eq=False, slots=True)
class Table:
    """A tuple of numbers that a process indexes."""

    name: str
    values: tuple[int, ...]

    @property
    def index_width(self) -> int:
        """Bits of an index."""
        return (len(self.values) - 1).bit_length() or 1


@dataclass(frozen=True, eq=False, slots=True)
class Target:
    """The target of an assignment: a signal, a memory element, a variable, or some bits of it.

    Attributes:
        base: ``Read``, ``Element`` or ``Local``.
        high, low: the bits of a slice; both None without one.
        index: of a single bit, or None.
    """

    base: Expr
    high: int | None = None
    low: int | None = None
    index: Expr | None = None


@dataclass(frozen=True, eq=False, slots=True)
class Assign:
    """An assignment."""

    target: Target
    value: Expr


@dataclass(frozen=True, eq=False, slots=True)
class If:
    """Branches by their tests, and the statements if no test holds."""

    branches: tuple[tuple[Expr, Sequence[Statement]], ...]
    otherwise: Sequence[Statement]


@dataclass(frozen=True, eq=False, slots=True)
class Case:
    """Branches by the values of a subject; ``values`` of two branches differ."""

    subject: Expr
    branches: tuple[tuple[tuple[Expr, ...], Sequence[Statement]], ...]
    otherwise: Sequence[Statement]


@dataclass(frozen=True, eq=False, slots=True)
class For:
    """The body for each value of the variable, from ``start`` by ``step`` for ``count`` times."""

    variable: Variable
    start: int
    step: int
    count: int
    body: Sequence[Statement]


@dataclass(frozen=True, eq=False, slots=True)
class Break:
    """Leave the innermost loop."""


@dataclass(frozen=True, eq=False, slots=True)
class Continue:
    """Continue with the next value of the innermost loop."""


Statement = Assign | If | Case | For | Break | Continue


def values_of(each: Statement) -> list[Expr]:
    """Return the expressions that a statement reads, without those of inner statements."""
    if isinstance(each, Assign):
        index = each.target.base.index if isinstance(each.target.base, Element) else None
        return [each.value, *(x for x in (each.target.index, index) if x is not None)]
    if isinstance(each, If):
        return [test for test, _ in each.branches]
    return [each.subject] if isinstance(each, Case) else []


def bodies_of(each: Statement) -> list[Sequence[Statement]]:
    """Return the statements inside of a statement."""
    if isinstance(each, If | Case):
        return [*(body for _, body in each.branches), each.otherwise]
    return [each.body] if isinstance(each, For) else []


def changed_inside(
    each: Statement, change: Callable[[Sequence[Statement]], Sequence[Statement]]
) -> Statement:
    """Return a statement with other statements inside of it."""
    if isinstance(each, If):
        branches = tuple((test, change(body)) for test, body in each.branches)
        return If(branches, change(each.otherwise))
    if isinstance(each, Case):
        cases = tuple((values, change(body)) for values, body in each.branches)
        return Case(each.subject, cases, change(each.otherwise))
    return replace(each, body=change(each.body)) if isinstance(each, For) else each


NOTES = ("reads", "drives", "memories_read", "memories_driven")
"""The fields of ``Meaning`` with the signals that a process uses."""


@dataclass(eq=False, slots=True)
class Meaning:
    """A process.

    Attributes:
        statements: in order.
        variables: in the order of their first assignments.
        reads: signals that it reads, by their ``id``, in order.
        drives: signals that it assigns.
        memories_read, memories_driven: lists of signals.
        tables: that it indexes.
        enums: the enumerations whose members it names, by ``id``, each with its name if it has one.
    """

    statements: list[Statement] = field(default_factory=list)
    variables: list[Variable] = field(default_factory=list)
    reads: dict[int, Any] = field(default_factory=dict)
    drives: dict[int, Any] = field(default_factory=dict)
    memories_read: dict[int, Any] = field(default_factory=dict)
    memories_driven: dict[int, Any] = field(default_factory=dict)
    tables: list[Table] = field(default_factory=list)
    enums: dict[int, tuple[Any, str | None]] = field(default_factory=dict)
