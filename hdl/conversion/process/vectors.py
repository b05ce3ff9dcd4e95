"""Choose the bits of numbers."""

from __future__ import annotations

from dataclasses import replace

from merp.hdl.conversion.process import bits, build
from merp.hdl.conversion.process import meaning as m
from merp.hdl.conversion.process.meaning import Expr
from merp.hdl.conversion.process.places import (
    Places,
    alike,
    bare,
    cast,
    is_flag,
    literal,
    name_for,
    storage,
)
from merp.hdl.conversion.process.ranges import Range

_COUNT = 20
"""Largest number of bits of a shift count; a larger count shifts everything out."""


class Vectors(Places):
    """Builder of numbers with bits."""

    def natural(self, value: Expr) -> bits.Vector:
        """Return a value with all its bits."""
        if isinstance(value, m.Read | m.Local | m.Element):
            width, is_signed = storage(value)
            if width is not None:
                return bits.Name(width, is_signed, self.place(value))
        if isinstance(value, m.Lookup):
            return self._entry(value)
        return cast(self.low_bits(value, value.range.width), value.range.is_signed)

    def low_bits(self, value: Expr, width: int) -> bits.Vector:
        """Return the low bits of a value; bits beyond its own are filled with its sign."""
        if isinstance(value, m.Const):
            return literal(value.value, width)
        if value.is_bool or is_flag(value):
            return self.resized(bits.OfFlag(1, False, self.flag(value)), width)
        integer = None if self.holds else self.integer(value)
        if integer is not None:
            bits_of = max(width, value.range.width)
            return self.resized(bits.OfInteger(bits_of, value.range.is_signed, integer), width)
        method = getattr(self, f"_{type(value).__name__}", None)
        if method is None:
            return self.resized(self.natural(value), width)
        found: bits.Vector = method(value, width)
        assert found.width == width, (value, found)
        return found

    def _Index(self, value: m.Index, width: int) -> bits.Vector:
        stride = self.strides.get(value.variable)
        if stride is not None:
            return self.low_bits(stride, width)
        integer = bits.Integer(variable=value.variable)
        return self.resized(
            bits.OfInteger(value.range.width, value.range.is_signed, integer), width
        )

    def _Binary(self, value: m.Binary, width: int) -> bits.Vector:
        if value.op in ("+", "-") and not self.holds:
            widest = _widest(value)
            if widest is not None and widest > width:  # computed with all bits, then cut
                return self.resized(self.low_bits(value, widest), width)
        if value.op in ("+", "-", "&", "|", "^"):
            left, right = self.low_bits(value.left, width), self.low_bits(value.right, width)
            left, right = alike(left, right)
            return bits.Operation(width, left.signed, value.op, left, right)
        if value.op == "*":
            return self._product(value, width)
        if value.op in ("//", "%"):
            return self._quotient(value, width)
        if isinstance(value.right, m.Const):
            return self._shifted(value, value.right.value, width)
        return self._shift(value, width)

    def _product(self, value: m.Binary, width: int) -> bits.Vector:
        if self.holds:
            left, right = self.low_bits(value.left, width), self.low_bits(value.right, width)
            left, right = alike(left, right)
            return bits.Operation(width, left.signed, "*", left, right)
        left, right = self._factor(value.left, width), self._factor(value.right, width)
        if left.signed != right.signed:
            left, right = (self.with_sign(each) for each in (left, right))
        left, right = _of_one_width(left, right), _of_one_width(right, left)
        product = bits.Product(left.width + right.width, left.signed, left, right)
        return self.resized(product, width)

    def _factor(self, value: Expr, width: int) -> bits.Vector:
        found = self.natural(value)
        return found if found.width <= width else cast(self.low_bits(value, width), False)

    def _quotient(self, value: m.Binary, width: int) -> bits.Vector:
        """Return a quotient or remainder; both operands are known to be non-negative."""
        both = value.left.range | value.right.range
        left = cast(self.low_bits(value.left, both.width), False)
        right = cast(self.low_bits(value.right, both.width), False)
        op = "/" if value.op == "//" else "%"
        return self.resized(bits.Quotient(both.width, False, op, left, right), width)

    def _shifted(self, value: m.Binary, count: int, width: int) -> bits.Vector:
        """Return a shift by a number."""
        if value.op == "<<":
            if count >= width and self.holds:
                return literal(0, width)
            return bits.Shift(
                width, False, "<<", cast(self.low_bits(value.left, width), False), count
            )
        whole = value.left.range.width
        if count >= whole:
            count = whole - 1 if value.left.range.is_signed else whole
        if count >= whole:
            return literal(0, width)
        operand = self.natural(value.left)
        if not self.holds and isinstance(operand, bits.Name) and operand.width == width:
            return bits.Shift(width, operand.signed, ">>", operand, count)
        high = min(count + width, whole)
        return self.resized(self.part(value.left, high, count, value.left.range.is_signed), width)

    def _shift(self, value: m.Binary, width: int) -> bits.Vector:
        """Return a shift by a count that is only known while the hardware runs."""
        if value.op == "<<":
            operand = cast(self.low_bits(value.left, width), False)
            return bits.Shift(width, False, "<<", operand, self._count(value.right))
        operand = self.natural(value.left)
        if value.right.range.width <= _COUNT:
            shifted = self._moved(operand, self._count(value.right))
            return self.resized(shifted, width)
        limit = build.const(operand.width)
        near = build.compare("<", value.right, limit)
        count = replace(value.right, range=Range(0, min(value.right.range.high, operand.width)))
        few = cast(self.low_bits(count, min(_COUNT, value.right.range.width)), False)
        shifted = self._moved(operand, few)
        rest: Expr = build.const(0)
        if operand.signed:
            rest = build.choice(
                build.compare("<", value.left, build.const(0)), build.const(-1), rest
            )
        far = cast(self.low_bits(rest, operand.width), operand.signed)
        either = bits.Either(operand.width, operand.signed, self.flag(near), shifted, far)
        return self.resized(either, width)

    def _moved(self, operand: bits.Vector, count: bits.Vector) -> bits.Vector:
        """Shift a vector right, according to its type."""
        found = bits.Shift(operand.width, operand.signed, ">>", operand, count)
        if self.holds and operand.signed:
            return bits.Name(operand.width, True, self.hold(found, "shifted"))
        return found

    def _count(self, value: Expr) -> bits.Vector:
        """Return a shift count, which is never negative."""
        width = max(value.range.high.bit_length(), 1)
        integer = self.integer(value)
        if integer is not None:
            return bits.OfInteger(width, False, integer)
        return cast(self.low_bits(value, width), False)

    def _Unary(self, value: m.Unary, width: int) -> bits.Vector:
        operand = self.low_bits(value.operand, width)
        return bits.Inverse(width, operand.signed, value.op, operand)

    def _Choice(self, value: m.Choice, width: int) -> bits.Vector:
        test = self.flag(value.test)
        yes, no = alike(self.low_bits(value.yes, width), self.low_bits(value.no, width))
        return bits.Either(width, yes.signed, test, yes, no)

    def _Slice(self, value: m.Slice, width: int) -> bits.Vector:
        if self._is_whole(value) and width == value.high:
            is_signed = storage(value.value)[1]
            return cast(bits.Part(width, is_signed, self.place(value.value), 0), False)
        high = min(value.high, value.low + width)
        return self.resized(cast(self.part(value.value, high, value.low, False), False), width)

    def _is_whole(self, value: m.Slice) -> bool:
        """Return whether the source takes all bits of a name; so text with parameters is alike."""
        named = isinstance(value.value, m.Read | m.Local | m.Element)
        written = value.low == 0 and value.length == value.high
        return named and written and storage(value.value)[0] == value.high

    def part(self, value: Expr, high: int, low: int, keeps_sign: bool) -> bits.Vector:
        """Return bits ``high - 1`` to ``low`` of a value; with its type if they keep the sign."""
        if low == 0:
            found = self.low_bits(value, high)
        else:
            named = isinstance(value, m.Read | m.Local | m.Element)
            whole = (
                self.natural(value)
                if named or high >= value.range.width
                else self.low_bits(value, high)
            )
            if high > whole.width:
                if not whole.signed:
                    kept = (
                        self.part(value, max(whole.width, low + 1), low, False)
                        if whole.width > low
                        else literal(0, 1)
                    )
                    return self.resized(cast(kept, False), high - low)
                whole = self.resized(whole, high)
            if isinstance(bare(whole), bits.Name):
                whole = bare(whole)
            place = (
                whole.place if isinstance(whole, bits.Name) else self.hold(whole, name_for(value))
            )
            found = bits.Part(high - low, whole.signed, place, low)
        return cast(found, keeps_sign)

    def _Concat(self, value: m.Concat, width: int) -> bits.Vector:
        parts: list[bits.Vector | bits.Flag] = []
        for each, length in value.parts:
            if each.is_bool:
                parts.append(self.flag(each))
            else:
                parts.append(cast(self.low_bits(each, length), False))
        whole = sum(length for _, length in value.parts)
        if len(parts) == 1 and isinstance(parts[0], bits.Vector):
            return self.resized(parts[0], width)
        found = bits.Joined(whole, False, tuple(parts))
        if width < whole:
            return bits.Part(width, False, self.hold(found, name_for(value)), 0)
        return self.resized(found, width)

    def _Signed(self, value: m.Signed, width: int) -> bits.Vector:
        found = cast(self.low_bits(value.value, min(width, value.bits)), True)
        return self.resized(found, width)

    def _entry(self, value: m.Lookup) -> bits.Vector:
        if isinstance(value.index, m.Const):
            return literal(value.table.values[value.index.value], value.range.width)
        width = value.table.index_width
        index = cast(self.low_bits(value.index, min(width, value.index.range.width)), False)
        if self.holds:  # Verilog computes an argument at the width of the parameter
            index = self.resized(index, width)
        if value.table not in self.tables:
            self.tables.append(value.table)
        whole = Range(min(value.table.values), max(value.table.values))
        return bits.Entry(whole.width, whole.is_signed, value.table, index)


def _widest(value: Expr) -> int | None:
    """Return the bits of the widest operand of a sum; None if one of them is signed."""
    if isinstance(value, m.Binary) and value.op in ("+", "-"):
        both = _widest(value.left), _widest(value.right)
        return None if both[0] is None or both[1] is None else max(both[0], both[1])
    if isinstance(value, m.Const):
        return 0
    return None if value.range.is_signed else value.range.width


def _of_one_width(value: bits.Vector, other: bits.Vector) -> bits.Vector:
    """Return a number as wide as the other factor, as in VHDL's product with an integer."""
    if isinstance(value, bits.Literal) and not isinstance(other, bits.Literal):
        if value.width < other.width:
            return replace(value, width=other.width)
    return value
