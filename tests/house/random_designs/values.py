"""Expressions that are numbers, each with the interval that it never leaves."""

from collections.abc import Callable
from dataclasses import dataclass

from random_designs.kinds import Kind
from random_designs.nodes import Node


@dataclass(frozen=True)
class Value:
    """An expression that is a number.

    Attributes:
        node: its source.
        low, high: it is never outside.
        width: of its bits, where it has a length and can be indexed; otherwise 0.
        unsigned: its bits are not in two's complement.
        is_plain: it has neither length nor sign bit, so that ``~`` is ``-x - 1``.
        is_object: it may be a signal, which ``intbv`` does not take.
        is_int: it is an int of Python, and no ``intbv`` without a width.
    """

    node: Node
    low: int
    high: int
    width: int = 0
    unsigned: bool = False
    is_plain: bool = False
    is_object: bool = False
    is_int: bool = False

    def within(self, low: int, high: int) -> bool:
        """Whether it is never outside of other bounds."""
        return low <= self.low and self.high <= high


def int_value(node: Node, bounds: tuple[int, int]) -> Value:
    """A number of Python."""
    return Value(node, *bounds, is_plain=True, is_int=True)


def plain_value(node: Node, bounds: tuple[int, int]) -> Value:
    """A number of Python, or an ``intbv`` without a width."""
    return Value(node, *bounds, is_plain=True)


def named_value(name: str, kind: Kind, *, signal: bool, bare: bool = False) -> Value:
    """A signal or variable as a value; one that is ``bare`` may be an int in its place."""
    if bare:
        return Value(Node.number(name), kind.low, kind.high, is_object=True)
    unsigned = kind.low >= 0
    return Value(Node.number(name), kind.low, kind.high, kind.width, unsigned, is_object=signal)


def as_int(value: Value) -> Node:
    """What makes a variable an int."""
    return value.node if value.is_int else Node.number("int({})", value.node)


def bits_of(*values: int) -> int:
    """How many bits the largest of them has, without its sign."""
    return max((value if value >= 0 else ~value).bit_length() for value in values)


def corners(
    operation: Callable[[int, int], int], a: tuple[int, int], b: tuple[int, int]
) -> tuple[int, int]:
    """The bounds of what an operation gives, if its extremes are at bounds of its operands."""
    found = [operation(x, y) for x in a for y in b]
    return min(found), max(found)
