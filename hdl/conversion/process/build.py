"""Build expressions from operands; each range follows from the ranges of the operands."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import replace

from merp.hdl.conversion.process.meaning import (
    Binary,
    Bit,
    Choice,
    Compare,
    Concat,
    Const,
    EnumConst,
    Expr,
    Index,
    Logic,
    Not,
    Signed,
    Slice,
    Unary,
    parts_of,
)
from merp.hdl.conversion.process.ranges import (
    BINARY,
    UNARY,
    Range,
    exactly,
    signed,
    unsigned,
)

MOST = 1 << 16
"""Largest number of bits of a value; a value with more has lost its bounds."""

PYTHON: dict[str, Callable[[int, int], int]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "//": operator.floordiv,
    "%": operator.mod, "<<": operator.lshift, ">>": operator.rshift, "&": operator.and_,
    "|": operator.or_, "^": operator.xor,
}  # fmt: skip
"""Python's operators by their notation."""

COMPARE: dict[str, Callable[[int, int], bool]] = {
    "==": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le,
    ">": operator.gt, ">=": operator.ge,
}  # fmt: skip
"""Python's comparisons by their notation."""


class TooWide(Exception):
    """A value that needs more than ``MOST`` bits."""


class NeedsNumber(Exception):
    """The variable of a loop where a number is required: the loop must be unrolled."""


def is_counted(value: Expr) -> bool:
    """Return whether a value is computed only from loop variables and numbers."""
    leaves = [each for each in parts_of(value) if not isinstance(each, Const)]
    return any(isinstance(each, Index) for each in leaves) and all(
        isinstance(each, Index | Binary | Unary | Choice | Compare) for each in leaves
    )


def shown(value: int) -> str:
    """Return a number for a message; Python refuses to write thousands of digits."""
    return str(value) if -MOST < value < MOST else f"of {value.bit_length()} bits"


def const(value: int, length: int | None = None) -> Const:
    """Return a number; a bool stays a bool."""
    return Const(
        int(value), range=exactly(int(value)), length=length, is_bool=isinstance(value, bool)
    )


def binary(op: str, left: Expr, right: Expr) -> Expr:
    """``left op right`` of numbers."""
    both_bools = left.is_bool and right.is_bool and op in "&|^"
    if op in ("<<", ">>") and right.range.high >= MOST:
        if op == "<<" and left.range != exactly(0):
            raise TooWide
    if isinstance(left, Const) and isinstance(right, Const):
        if not (op in ("//", "%") and right.value == 0) and not (
            op in ("<<", ">>") and right.value < 0
        ):
            value = PYTHON[op](left.value, right.value)
            return const(bool(value) if both_bools else value)
    if op in ("//", "%"):
        return _divided(op, left, right)
    counted = right.range
    if op == ">>" and counted.high >= MOST:
        counted = counted.within(unsigned(16))
    found = BINARY[op](left.range, counted)
    if found.width > MOST:
        raise TooWide
    return Binary(op, left, right, range=found, is_bool=both_bools)


def _divided(op: str, left: Expr, right: Expr) -> Expr:
    """Return ``//`` or ``%`` from unsigned quotients, rounded down as in Python."""
    if isinstance(right, Const) and right.value > 0 and right.value & (right.value - 1) == 0:
        shift = right.value.bit_length() - 1
        if op == "//":
            return binary(">>", left, const(shift)) if shift else left
        low = part(left, shift, 0) if shift else const(0)
        return replace(low, length=None)
    if right.range.low < 0 < right.range.high:
        turned = _divided(op, negative(left), _positive(negative(right), right.range))
        if op == "%":
            turned = negative(turned)
        plain = _divided(op, left, _positive(right, right.range))
        return choice(compare("<", right, const(0)), turned, plain)
    if right.range.high <= 0:
        turned = _divided(op, negative(left), _positive(negative(right), right.range))
        return turned if op == "//" else negative(turned)
    if not left.range.is_signed:
        return Binary(op, left, right, range=BINARY[op](left.range, right.range))
    below = replace(inverted(replace(left, length=None)), range=Range(0, ~left.range.low))
    above = replace(left, range=Range(0, max(left.range.high, 0)), length=None, is_bool=False)
    if op == "//":
        down = inverted(_divided(op, below, right))
        up = _divided(op, above, right)
    else:
        down = binary("-", binary("-", right, const(1)), _divided(op, below, right))
        up = _divided(op, above, right)
    found = choice(compare("<", left, const(0)), down, up)
    return replace(found, range=found.range.within(BINARY[op](left.range, right.range)))


def _positive(value: Expr, whole: Range) -> Expr:
    """Return a divisor if it is positive, so wide that no other value of it becomes zero."""
    return replace(
        value, range=Range(1, max(-whole.low, whole.high, 1)), length=None, is_bool=False
    )


def negative(operand: Expr) -> Expr:
    """``-operand``."""
    if isinstance(operand, Const):
        return const(-operand.value)
    return Unary("-", operand, range=UNARY["-"](operand.range))


def inverted(operand: Expr) -> Expr:
    """Return ``~operand``: inverted bits of an unsigned vector, ``-n - 1`` of a number."""
    if isinstance(operand, Const) and operand.length is None:
        return const(~operand.value)
    found = Unary("~", operand, range=UNARY["~"](operand.range))
    if operand.length is not None and not operand.is_bool and not operand.range.is_signed:
        return Slice(found, operand.length, 0, range=unsigned(operand.length))
    return found


def compare(op: str, left: Expr, right: Expr) -> Expr:
    """``left op right``, a bool."""
    if isinstance(left, Const) and isinstance(right, Const):
        return const(COMPARE[op](left.value, right.value))
    if isinstance(left, EnumConst) and isinstance(right, EnumConst):
        return const((left.item is right.item) == (op == "=="))
    return Compare(op, left, right, is_bool=True)


def decided(op: str, a: Range, b: Range) -> bool | None:
    """Return the result of a comparison if it is the same for all values of two ranges."""
    if op in ("<", ">="):
        less = True if a.high < b.low else False if a.low >= b.high else None
        return less if less is None or op == "<" else not less
    if op in (">", "<="):
        more = True if a.low > b.high else False if a.high <= b.low else None
        return more if more is None or op == ">" else not more
    apart = a.high < b.low or b.high < a.low
    return (op == "!=") if apart else None


def truth(operand: Expr) -> Expr:
    """``bool(operand)``."""
    if operand.is_bool:
        return operand
    if isinstance(operand, Const):
        return const(bool(operand.value))
    return compare("!=", operand, const(0))


def negated(operand: Expr) -> Expr:
    """``not operand`` of a bool."""
    if isinstance(operand, Const):
        return const(not operand.value)
    if isinstance(operand, Not):
        return operand.operand
    return Not(operand, is_bool=True)


def logic(op: str, operands: Sequence[Expr]) -> Expr:
    """Return ``and`` or ``or`` of bools, without parts that follow from constants."""
    deciding = op == "or"
    kept: list[Expr] = []
    for each in operands:
        if isinstance(each, Const):
            if bool(each.value) == deciding:
                kept.append(const(deciding))
                break
            continue
        kept += each.operands if isinstance(each, Logic) and each.op == op else [each]
    if kept and isinstance(kept[-1], Const):
        return kept[-1]
    if not kept:
        return const(not deciding)
    return kept[0] if len(kept) == 1 else Logic(op, tuple(kept), is_bool=True)


def choice(test: Expr, yes: Expr, no: Expr) -> Expr:
    """``yes if test else no``."""
    if isinstance(test, Const):
        return yes if test.value else no
    length = yes.length if yes.length == no.length else None
    return Choice(
        test, yes, no, range=yes.range | no.range, length=length,
        is_bool=yes.is_bool and no.is_bool,
    )  # fmt: skip


def part(value: Expr, high: int, low: int) -> Expr:
    """Return bits ``high - 1`` to ``low``; of a slice or a number directly."""
    width = high - low
    if isinstance(value, Const):
        return const((value.value & (1 << high) - 1) >> low, width)
    if isinstance(value, Slice) and high <= value.high - value.low:
        return part(value.value, high + value.low, low + value.low)
    return Slice(value, high, low, range=unsigned(width), length=width)


def bit(value: Expr, index: Expr) -> Expr:
    """Return one bit, a bool."""
    if isinstance(value, Const) and isinstance(index, Const):
        return const(bool(value.value >> index.value & 1))
    if isinstance(value, Slice) and isinstance(index, Const):
        if index.value < value.high - value.low:
            return bit(value.value, const(index.value + value.low))
    return Bit(value, index, is_bool=True)


def concatenation(parts: Sequence[tuple[Expr, int]], has_length: bool) -> Expr:
    """Concatenate values; if it has no length, the first one is an integer of any size."""
    width = sum(width for _, width in parts)
    if all(isinstance(each, Const) for each, _ in parts):
        value = 0
        for each, bits in parts:
            assert isinstance(each, Const)
            value = value << bits | each.value & (1 << bits) - 1
        return const(value, width if has_length else None)
    length = width if has_length else None
    return Concat(tuple(parts), range=unsigned(width), length=length)


def as_signed(value: Expr) -> Expr:
    """``value.signed()`` of a vector."""
    width = value.length
    assert width is not None
    if value.range.is_signed:
        return value
    return Signed(value, width, range=signed(width), length=width)
