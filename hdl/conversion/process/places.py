"""Find the places of values: places, indices, and variables for values whose bits are used."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace
from typing import Any

from myhdl import EnumItemType

from merp.hdl.conversion.base.internals import enum_of
from merp.hdl.conversion.process import bits
from merp.hdl.conversion.process import meaning as m
from merp.hdl.conversion.process.meaning import Expr, Variable
from merp.hdl.conversion.process.ranges import Range, unsigned

_INTEGERS = Range(-(1 << 31) + 1, (1 << 31) - 1)
"""The range of VHDL's integers."""

_NAMES: dict[type[bits.Vector], str] = {
    bits.Product: "product",
    bits.Quotient: "quotient",
    bits.Shift: "shifted",
    bits.Operation: "sum",
    bits.Joined: "joined",
}


class Places(ABC):
    """Builder of places and indices with bits."""

    def __init__(self, holds: bool) -> None:
        self.holds = holds
        self.strides: dict[Variable, Expr] = {}
        self.held: list[Variable] = []
        self.before: list[bits.Statement] = []
        self.tables: list[m.Table] = []

    def place(self, base: Expr) -> bits.Place:
        """Return the place of a value."""
        if isinstance(base, m.Read):
            return bits.Place(base.signal)
        if isinstance(base, m.Local):
            return bits.Place(base.variable)
        assert isinstance(base, m.Element)
        index = self.index(base.index, base.memory.depth)
        return bits.Place(
            base.memory, bits.Integer(value=index) if isinstance(index, int) else index
        )

    def index(self, value: Expr, length: int | None = None) -> int | bits.Integer | bits.Vector:
        """Return an index: a number, an expression of loop variables, or an unsigned vector.

        Args:
            value: of the index.
            length: of the indexed object, if the index needs its bits.
        """
        if isinstance(value, m.Const):
            return value.value
        integer = self.integer(value)
        if integer is not None:
            return integer
        if self.holds and length is not None:
            return cast(self.low_bits(value, max((length - 1).bit_length(), 1)), False)
        if value.is_bool:
            return bits.OfFlag(1, False, self.flag(value))
        node = self.natural(value)
        if node.signed:  # it is never negative: otherwise Python would count from the end, or raise
            node = self.low_bits(value, max(value.range.high.bit_length(), 1))
        return cast(node, False)

    def integer(self, value: Expr) -> bits.Integer | None:
        """Return an expression of numbers and loop variables only; None for anything else."""
        if value.range not in _INTEGERS or value.is_bool:
            return None
        if isinstance(value, m.Const):
            return bits.Integer(value=value.value)
        if isinstance(value, m.Index):
            stride = self.strides.get(value.variable)
            return bits.Integer(variable=value.variable) if stride is None else self.integer(stride)
        if isinstance(value, m.Slice) and value.low == 0 and not value.value.range.is_signed:
            inner = self.integer(value.value)
            size = bits.Integer(value=1 << value.high)
            return None if inner is None else bits.Integer("%", left=inner, right=size)
        if isinstance(value, m.Binary) and value.op == "<<" and isinstance(value.left, m.Const):
            count = self.integer(value.right)
            if count is None or value.left.value != 1:
                return None
            return bits.Integer("**", left=bits.Integer(value=2), right=count)
        if isinstance(value, m.Binary) and value.op in ("<<", ">>"):
            inner = self.integer(value.left)
            if inner is None or not isinstance(value.right, m.Const) or value.left.range.is_signed:
                return None
            factor = bits.Integer(value=1 << value.right.value)
            return bits.Integer("*" if value.op == "<<" else "//", left=inner, right=factor)
        if isinstance(value, m.Binary) and value.op in ("+", "-", "*", "//", "%"):
            left, right = self.integer(value.left), self.integer(value.right)
            has_sign = value.left.range.is_signed or value.right.range.is_signed
            if left is None or right is None or (value.op in ("//", "%") and has_sign):
                return None
            return bits.Integer(value.op, left=left, right=right)
        return None

    def resized(self, value: bits.Vector, width: int) -> bits.Vector:
        """Return more bits, or only the low ones."""
        if value.width == width:
            return value
        if isinstance(value, bits.Literal):
            if width < value.width:
                return literal(value.value, width)
            return replace(value, width=width)
        plain = bare(value)
        named = isinstance(plain, bits.Name | bits.Part)
        if width < value.width:
            if isinstance(plain, bits.Name):
                return bits.Part(width, plain.signed, plain.place, 0)
            if isinstance(plain, bits.Part):
                return replace(plain, width=width)
            if isinstance(value, bits.Resized) and width > value.value.width:
                return self.resized(value.value, width)
            if self.holds:
                return bits.Part(
                    width, value.signed, self.hold(value, _NAMES.get(type(value), "value")), 0
                )
        elif self.holds and value.signed and not named:
            place = self.hold(value, _NAMES.get(type(value), "value"))
            return bits.Resized(width, True, bits.Name(value.width, True, place))
        return bits.Resized(width, value.signed, value)

    def hold(self, value: bits.Vector, name: str) -> bits.Place:
        """Return a variable for a value whose bits are used."""
        variable = Variable(name, range_of(value), False)
        self.held.append(variable)
        place = bits.Place(variable)
        target = bits.Target(place, value.width, value.signed)
        self.before.append(bits.Assignment(target, value))
        return place

    def with_sign(self, value: bits.Vector) -> bits.Vector:
        """Return a signed vector that has the same value."""
        if value.signed:
            return value
        if isinstance(value, bits.Literal):
            return bits.Literal(value.value.bit_length() + 1, True, value.value)
        return cast(self.resized(value, value.width + 1), True)

    @abstractmethod
    def natural(self, value: Expr) -> bits.Vector:
        """Return a value with all its bits."""

    @abstractmethod
    def low_bits(self, value: Expr, width: int) -> bits.Vector:
        """Return the low bits of a value; bits beyond its own are filled with its sign."""

    @abstractmethod
    def flag(self, value: Expr) -> bits.Flag:
        """Return a bool; for a number its lowest bit."""


def storage(base: Expr) -> tuple[int | None, bool]:
    """Return bits and type of a value's place; None for a single bit or an enumeration's member."""
    if isinstance(base, m.Local):
        variable = base.variable
        if variable.enum is not None or variable.is_bool:
            return None, False
        assert variable.range is not None
        return variable.range.width, variable.range.is_signed
    signal = base.signal if isinstance(base, m.Read) else base.memory.mem[0]  # type: ignore[attr-defined]
    if isinstance(signal.val, bool | EnumItemType):
        return None, False
    return len(signal), signal.min is not None and signal.min < 0


def is_flag(value: Expr) -> bool:
    """Return whether a single bit holds or computes a value."""
    if isinstance(value, m.Compare | m.Logic | m.Not | m.Bit):
        return True
    return isinstance(value, m.Read | m.Local | m.Element) and storage(value)[0] is None


def enum_type(base: Expr) -> Any:
    """Return the enumeration of a value, or None."""
    if isinstance(base, m.EnumConst):
        return enum_of(base.item)
    if isinstance(base, m.Choice):
        return enum_type(base.yes)
    if isinstance(base, m.Local):
        return base.variable.enum
    if isinstance(base, m.Read | m.Element):
        signal = base.signal if isinstance(base, m.Read) else base.memory.mem[0]
        return enum_of(signal.val) if isinstance(signal.val, EnumItemType) else None
    return None


def literal(value: int, width: int) -> bits.Literal:
    """Return the low bits of a number; signed if it is negative and the bits are enough."""
    if value < 0 and value >= -(1 << width - 1):
        return bits.Literal(width, True, value)
    return bits.Literal(width, False, value & (1 << width) - 1)


def cast(value: bits.Vector, is_signed: bool) -> bits.Vector:
    """Return the same bits with another type."""
    if value.signed == is_signed:
        return value
    if isinstance(value, bits.Literal):
        pattern = value.value & (1 << value.width) - 1
        if is_signed and pattern >> value.width - 1:
            pattern -= 1 << value.width
        return bits.Literal(value.width, is_signed, pattern)
    if isinstance(value, bits.Cast):
        return value.value
    if isinstance(value, bits.Either):
        yes, no = cast(value.yes, is_signed), cast(value.no, is_signed)
        return bits.Either(value.width, is_signed, value.test, yes, no)
    return bits.Cast(value.width, is_signed, value)


def bare(value: bits.Vector) -> bits.Vector:
    """Return a vector without its cast."""
    return value.value if isinstance(value, bits.Cast) else value


def alike(left: bits.Vector, right: bits.Vector) -> tuple[bits.Vector, bits.Vector]:
    """Return two vectors of the same width with one type, the type of the non-number."""
    if left.signed == right.signed:
        return left, right
    if isinstance(left, bits.Literal):
        return cast(left, right.signed), right
    if isinstance(right, bits.Literal):
        return left, cast(right, left.signed)
    return cast(left, True), cast(right, True)


def range_of(value: bits.Vector) -> Range:
    """Return the range of a vector's bits."""
    if value.signed:
        return Range(-(1 << value.width - 1), (1 << value.width - 1) - 1)
    return unsigned(value.width)


def name_for(value: Expr) -> str:
    """Return a name for a variable that holds a value."""
    names = {
        "+": "sum", "-": "difference", "*": "product", "//": "quotient", "%": "remainder",
        "<<": "shifted", ">>": "shifted",
    }  # fmt: skip
    return names.get(getattr(value, "op", ""), "value")
