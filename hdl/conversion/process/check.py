"""Check statements with bits: widths must agree, and labels must belong to their subject.

The check is independent of the code that makes the statements. It runs before the printers, so that
a fault of that code does not become text.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from myhdl import EnumItemType

from merp.hdl.conversion.base.errors import ExportError
from merp.hdl.conversion.base.internals import AnySignal, enum_of
from merp.hdl.conversion.process import bits
from merp.hdl.conversion.process.meaning import Variable


class Unsound(Exception):
    """A node that violates the rules of its kind."""


def check(process: str, statements: Sequence[bits.Statement]) -> None:
    """Check every statement of a process.

    Raises:
        ExportError: a width, a type or a label does not agree; the converter has a fault.
    """
    try:
        for each in statements:
            _statement(each)
    except Unsound as error:
        raise ExportError(
            f"process {process}: {error}; this is a fault of the converter: please report the block"
        ) from error


def _demand(holds: bool, what: str) -> None:
    if not holds:
        raise Unsound(what)


# Statements


def _statement(each: bits.Statement) -> None:
    if isinstance(each, bits.Assignment):
        _assignment(each)
    elif isinstance(each, bits.Branches):
        for test, body in each.branches:
            _flag(test)
            _all(body)
        _all(each.otherwise)
    elif isinstance(each, bits.Selection):
        _selection(each)
    elif isinstance(each, bits.Loop):
        _demand(each.count >= 0 and abs(each.step) == 1, "a loop with other steps")
        _all(each.body)


def _all(statements: Sequence[bits.Statement]) -> None:
    for each in statements:
        _statement(each)


def _assignment(each: bits.Assignment) -> None:
    target, value = each.target, each.value
    held = _held(target.place)
    if isinstance(held, tuple):
        width, is_signed = held
        _demand(target.width == width and target.signed == is_signed, "a target of another width")
        if target.index is not None:
            _index(target.index, width)
            _demand(isinstance(value, bits.Flag), "a bit is assigned a vector")
        elif target.high is not None:
            _demand(target.low is not None and 0 <= target.low < target.high <= width, "a part")
            width = target.high - (target.low or 0)
        if target.index is None:
            if not isinstance(value, bits.Vector):
                raise Unsound("a vector is assigned a flag")
            _demand(value.width == width, f"{value.width} bits are assigned to {width}")
            _demand(value.signed == is_signed, "a value of another type is assigned")
    elif held is None:
        _demand(isinstance(value, bits.Flag), "a bit is assigned no flag")
    else:
        _demand(isinstance(value, bits.Member), "an enumeration is assigned no member")
        _demand(_enum(value) is held, "a member of another enumeration is assigned")
    _value(value)


def _selection(each: bits.Selection) -> None:
    _value(each.subject)
    seen: set[object] = set()
    for labels, body in each.branches:
        for label in labels:
            if isinstance(label, bits.Literal):
                subject = each.subject
                agrees = isinstance(subject, bits.Vector) and label.width == subject.width
                _demand(agrees, "a label of another width than its subject")
                _literal(label)
                key: object = label.value & (1 << label.width) - 1
            else:
                _demand(enum_of(label.item) is _enum(each.subject), "a label of another type")
                key = str(label.item)
            _demand(key not in seen, "two branches with one label")
            seen.add(key)
        _all(body)
    _demand(bool(seen), "a selection without labels")
    if each.is_full:
        subject = each.subject
        ways = 1 << subject.width if isinstance(subject, bits.Vector) else len(_enum(subject))
        _demand(len(seen) == ways, "a selection that is said to be full")
    _all(each.otherwise)


# Places


def _held(place: bits.Place) -> Any:
    """Return width and type of the content of a place; None for a single bit; a member's type."""
    what = place.what
    if isinstance(what, Variable):
        if what.enum is not None:
            return what.enum
        assert what.range is not None
        return None if what.is_bool else (what.range.width, what.range.low < 0)
    signal = what if isinstance(what, AnySignal) else what.mem[0]
    if not isinstance(what, AnySignal):
        _demand(place.index is not None, "a list without an index")
        assert place.index is not None
        _index(place.index, what.depth)
    if isinstance(signal.val, bool):
        return None
    if isinstance(signal.val, EnumItemType):
        return enum_of(signal.val)
    return len(signal), signal.min < 0


def _index(index: int | bits.Integer | bits.Vector, length: int) -> None:
    if isinstance(index, int):
        _demand(0 <= index < length, f"index {index} of {length}")
    elif isinstance(index, bits.Vector):
        _demand(not index.signed, "an index with a sign")
        _value(index)


# Values


def _value(value: Any) -> None:
    if isinstance(value, bits.Flag):
        _flag(value)
    elif isinstance(value, bits.Vector):
        _vector(value)
    elif isinstance(value, bits.EitherMember):
        _flag(value.test)
        _demand(_enum(value.yes) is _enum(value.no), "a choice between two enumerations")
    elif isinstance(value, bits.MemberName):
        _held(value.place)


def _enum(value: Any) -> Any:
    if isinstance(value, bits.MemberConst):
        return enum_of(value.item)
    if isinstance(value, bits.EitherMember):
        return _enum(value.yes)
    return _held(value.place)


def _literal(value: bits.Literal) -> None:
    half = 1 << value.width - 1
    low, high = (-half, half) if value.signed else (0, 2 * half)
    _demand(low <= value.value < high, f"a number beyond {value.width} bits")


def _operands(value: bits.Vector) -> Iterator[bits.Vector]:
    """Yield the operands of a vector that have its width and its type."""
    if isinstance(value, bits.Operation):
        yield from (value.left, value.right)
    elif isinstance(value, bits.Either):
        yield from (value.yes, value.no)
    elif isinstance(value, bits.Quotient):
        _demand(not value.signed, "a quotient with a sign")
        yield from (value.left, value.right)
    elif isinstance(value, bits.Inverse | bits.Shift):
        yield value.value


def _vector(value: bits.Vector) -> None:
    _demand(value.width > 0, "a vector without bits")
    for each in _operands(value):
        same = each.width == value.width and each.signed == value.signed
        _demand(same, f"an operand of {each.width} bits in {type(value).__name__} of {value.width}")
        _vector(each)
    if isinstance(value, bits.Literal):
        _literal(value)
    elif isinstance(value, bits.Name):
        _demand(_held(value.place) == (value.width, value.signed), "a name of another width")
    elif isinstance(value, bits.Part):
        held = _held(value.place)
        fits = isinstance(held, tuple) and value.low >= 0 and value.low + value.width <= held[0]
        _demand(fits and held[1] == value.signed, "a part beyond its vector")
    elif isinstance(value, bits.Resized):
        _demand(value.signed == value.value.signed, "a resized vector of another type")
        _vector(value.value)
    elif isinstance(value, bits.Cast):
        cast = value.width == value.value.width and value.signed != value.value.signed
        _demand(cast, "a cast that changes the width")
        _vector(value.value)
    elif isinstance(value, bits.Product):
        one, other = value.left, value.right
        types = one.signed == other.signed == value.signed
        _demand(types and value.width == one.width + other.width, "a product of another width")
        _vector(one)
        _vector(other)
    elif isinstance(value, bits.Shift) and isinstance(value.count, bits.Vector):
        _demand(not value.count.signed, "a count with a sign")
        _vector(value.count)
    elif isinstance(value, bits.Joined):
        widths = [each.width if isinstance(each, bits.Vector) else 1 for each in value.parts]
        _demand(sum(widths) == value.width and not value.signed, "parts of another width")
        for part in value.parts:
            _value(part)
    elif isinstance(value, bits.OfFlag):
        _demand((value.width, value.signed) == (1, False), "a flag of several bits")
        _flag(value.flag)
    elif isinstance(value, bits.Entry):
        _demand(not value.index.signed, "an index with a sign")
        _vector(value.index)
    if isinstance(value, bits.Either):
        _flag(value.test)


def _flag(flag: bits.Flag) -> None:
    if isinstance(flag, bits.Wire):
        _demand(_held(flag.place) is None, "a vector as a flag")
    elif isinstance(flag, bits.At):
        held = _held(flag.place)
        _demand(isinstance(held, tuple) and held[0] == flag.width, "a bit of another vector")
        _index(flag.index, flag.width)
    elif isinstance(flag, bits.Gate):
        for each in flag.operands:
            _flag(each)
    elif isinstance(flag, bits.Inverted):
        _flag(flag.flag)
    elif isinstance(flag, bits.EitherFlag):
        for each in (flag.test, flag.yes, flag.no):
            _flag(each)
    elif isinstance(flag, bits.Compared):
        _compared(flag)


def _compared(flag: bits.Compared) -> None:
    left, right = flag.left, flag.right
    if isinstance(left, bits.Vector) and isinstance(right, bits.Vector):
        same = (left.width, left.signed) == (right.width, right.signed)
        _demand(same, f"{left.width} bits are compared with {right.width}")
    else:
        flags = isinstance(left, bits.Flag) and isinstance(right, bits.Flag)
        _demand(flags or _enum(left) is _enum(right), "values of two types are compared")
        _demand(flag.op in ("==", "!="), "values without an order are ordered")
    _value(left)
    _value(right)
