"""Ranges of operators hold every value that Python computes, and little more."""

from itertools import product

import pytest

from merp.hdl.conversion.process import build
from merp.hdl.conversion.process.meaning import Binary, Choice, Compare, Const, Expr, Read, Unary
from merp.hdl.conversion.process.ranges import BINARY, UNARY, Range, signed, unsigned

ENDS = (-9, -4, -1, 0, 1, 3, 7)
RANGES = [Range(low, high) for low, high in product(ENDS, ENDS) if low <= high]
EXACT = ("+", "-", "*", "<<", ">>", "//")
"""Operators whose least and greatest values are always reached."""


def values(of: Range) -> range:
    return range(of.low, of.high + 1)


def operand(of: Range) -> Expr:
    """Something that may have each value of a range."""
    return Read(None, range=of)


@pytest.mark.parametrize("op", BINARY)
def test_a_binary_operator_stays_in_its_range(op: str) -> None:
    compute = build.PYTHON[op]
    for a, b in product(RANGES, RANGES):
        second = [y for y in values(b) if not (op in ("//", "%") and y == 0)]
        if op in ("<<", ">>"):
            second = [y for y in second if y >= 0]
        found = [compute(x, y) for x in values(a) for y in second]
        if not found:
            continue
        told = BINARY[op](a, b)
        assert told.low <= min(found), (op, a, b)
        assert max(found) <= told.high, (op, a, b)
        if op in EXACT and not (op in ("<<", ">>") and b.low < 0):
            assert told == Range(min(found), max(found)), (op, a, b)


@pytest.mark.parametrize("op", UNARY)
def test_a_unary_operator_has_just_its_range(op: str) -> None:
    for a in RANGES:
        found = [-x if op == "-" else ~x for x in values(a)]
        assert UNARY[op](a) == Range(min(found), max(found))


def test_the_width_is_the_least_that_holds_a_range() -> None:
    for a in RANGES:
        width = a.width
        assert a in (signed(width) if a.is_signed else unsigned(width))
        if width > 1:
            assert a not in (signed(width - 1) if a.is_signed else unsigned(width - 1))


@pytest.mark.parametrize("op", build.COMPARE)
def test_a_comparison_is_decided_where_all_values_agree(op: str) -> None:
    for a, b in product(RANGES, RANGES):
        found = {build.COMPARE[op](x, y) for x in values(a) for y in values(b)}
        told = build.decided(op, a, b)
        if told is not None:
            assert found == {told}, (op, a, b)
        elif op in ("<", "<=", ">", ">="):
            assert len(found) == 2, (op, a, b)


@pytest.mark.parametrize(("op", "low", "high"), [("//", -40, 40), ("%", -40, 40)])
def test_quotients_of_numbers_are_rounded_down(op: str, low: int, high: int) -> None:
    """Constants are computed at once, as Python does."""
    for x, y in product(range(low, high, 7), (-7, -4, -1, 1, 3, 8)):
        found = build.binary(op, build.const(x), build.const(y))
        assert isinstance(found, Const)
        assert found.value == build.PYTHON[op](x, y)


@pytest.mark.parametrize(("value", "high", "low"), [(0b1011, 4, 1), (-3, 4, 0), (200, 8, 3)])
def test_a_part_of_a_number_is_computed(value: int, high: int, low: int) -> None:
    found = build.part(build.const(value), high, low)
    assert isinstance(found, Const)
    assert found.value == value >> low & (1 << high - low) - 1
    assert found.length == high - low


def test_a_value_that_needs_too_many_bits_is_refused() -> None:
    wide = operand(unsigned(40))
    with pytest.raises(build.TooWide):
        build.binary("<<", build.const(1), wide)
    assert build.binary(">>", wide, wide).range == unsigned(40)


def test_constants_decide_conditions_or_are_left_out() -> None:
    flag = Read(None, is_bool=True)
    true, false = build.const(True), build.const(False)
    assert build.logic("and", [flag, true]) is flag
    assert build.logic("or", [false, flag]) is flag
    for op, deciding in (("and", false), ("or", true)):
        found = build.logic(op, [flag, deciding])
        assert isinstance(found, Const)
        assert found.value == deciding.value
        assert found.is_bool


@pytest.mark.parametrize("divisor", [3, 7, -5])
def test_a_quotient_of_an_operand_is_computed_as_python_rounds(divisor: int) -> None:
    """The expression is computed here as it is built, node by node, for each value."""
    for x in range(-20, 21):
        for op in ("//", "%"):
            made = build.binary(op, operand(Range(-20, 20)), build.const(divisor))
            assert computed(made, x) == build.PYTHON[op](x, divisor), (op, x)


def computed(node: Expr, x: int) -> int:
    """The value of an expression of one operand."""
    if isinstance(node, Const):
        return node.value
    if isinstance(node, Read):
        return x
    if isinstance(node, Binary):
        return build.PYTHON[node.op](computed(node.left, x), computed(node.right, x))
    if isinstance(node, Unary):
        value = computed(node.operand, x)
        return -value if node.op == "-" else ~value
    if isinstance(node, Compare):
        return build.COMPARE[node.op](computed(node.left, x), computed(node.right, x))
    assert isinstance(node, Choice), node
    return computed(node.yes if computed(node.test, x) else node.no, x)
