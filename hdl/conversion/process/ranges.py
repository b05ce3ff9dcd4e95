"""Represent ranges of integers, and the ranges of the results of operators."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import product


@dataclass(frozen=True, slots=True)
class Range:
    """The integers from ``low`` to ``high``, both included."""

    low: int
    high: int

    def __or__(self, other: Range) -> Range:
        """Return the smallest range that contains both."""
        return Range(min(self.low, other.low), max(self.high, other.high))

    def __contains__(self, other: Range | int) -> bool:
        """Return whether it contains a number, or all of another range."""
        if isinstance(other, int):
            return self.low <= other <= self.high
        return self.low <= other.low and other.high <= self.high

    @property
    def is_signed(self) -> bool:
        """Whether it contains a negative number."""
        return self.low < 0

    @property
    def width(self) -> int:
        """The number of bits for every number of it; at least one."""
        if self.is_signed:
            return max((~self.low).bit_length(), max(self.high, 0).bit_length()) + 1
        return max(self.high.bit_length(), 1)

    def within(self, other: Range) -> Range:
        """Return the part inside ``other``; all of ``other`` if they have nothing in common."""
        low, high = max(self.low, other.low), min(self.high, other.high)
        return Range(low, high) if low <= high else other


BIT = Range(0, 1)


def exactly(value: int) -> Range:
    """Return the range of one number."""
    return Range(value, value)


def unsigned(width: int) -> Range:
    """Return the range of an unsigned number of ``width`` bits."""
    return Range(0, (1 << width) - 1)


def signed(width: int) -> Range:
    """Return the range of a number of ``width`` bits in two's complement."""
    return Range(-(1 << width - 1), (1 << width - 1) - 1)


def _corners(function: Callable[[int, int], int], a: Iterable[int], b: Iterable[int]) -> Range:
    """Return the range of a function that is monotonic in each operand between these values."""
    found = [function(x, y) for x, y in product(a, b)]
    return Range(min(found), max(found))


def _ends(a: Range) -> tuple[int, int]:
    return a.low, a.high


def _divisors(b: Range) -> list[int]:
    """Return the ends of a divisor's range and its values next to zero, without zero."""
    found = {b.low, b.high, *(x for x in (-1, 1) if x in b)} - {0}
    return sorted(found) or [1]


def _divide(a: Range, b: Range) -> Range:
    return _corners(lambda x, y: x // y, _ends(a), _divisors(b))


def _modulo(a: Range, b: Range) -> Range:
    if a.low >= 0 and b.low >= 0:
        return Range(0, min(a.high, max(b.high - 1, 0)))
    return Range(min(b.low + 1, 0), max(b.high - 1, 0))


def _left(a: Range, b: Range) -> Range:
    return _corners(lambda x, y: x << y, _ends(a), (max(b.low, 0), max(b.high, 0)))


def _right(a: Range, b: Range) -> Range:
    return _corners(lambda x, y: x >> y, _ends(a), (max(b.low, 0), max(b.high, 0)))


def _and(a: Range, b: Range) -> Range:
    if a.low >= 0 and b.low >= 0:
        return Range(0, min(a.high, b.high))
    if a.low >= 0 or b.low >= 0:
        return Range(0, a.high if a.low >= 0 else b.high)
    return signed((a | b).width)


def _or(a: Range, b: Range) -> Range:
    both = a | b
    return signed(both.width) if both.is_signed else unsigned(both.width)


BINARY: dict[str, Callable[[Range, Range], Range]] = {
    "+": lambda a, b: Range(a.low + b.low, a.high + b.high),
    "-": lambda a, b: Range(a.low - b.high, a.high - b.low),
    "*": lambda a, b: _corners(lambda x, y: x * y, _ends(a), _ends(b)),
    "//": _divide,
    "%": _modulo,
    "<<": _left,
    ">>": _right,
    "&": _and,
    "|": _or,
    "^": _or,
}
"""The range of ``a op b``, by Python's operator; shift counts and divisors must be legal."""

UNARY: dict[str, Callable[[Range], Range]] = {
    "-": lambda a: Range(-a.high, -a.low),
    "~": lambda a: Range(~a.high, ~a.low),
}
"""The range of ``op a``."""
