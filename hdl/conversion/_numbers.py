"""Represent numbers of VHDL text that may depend on generics and on the index of a loop.

A number is a sum of products: ``{(): 62, ("i",): 63}`` is ``63 * i + 62``. Private to
``merp.hdl.conversion``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

Factors = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Num:
    """A sum of products. ``terms``: factors and their coefficient, sorted, none of them zero."""

    terms: tuple[tuple[Factors, int], ...]

    @property
    def is_constant(self) -> bool:
        """Whether it depends on no name."""
        return all(not factors for factors, _ in self.terms)

    @property
    def constant(self) -> int:
        """The part that depends on no name."""
        return next((value for factors, value in self.terms if not factors), 0)

    def of(self, names: Mapping[str, int]) -> Num:
        """Return the same number, with values in place of some of its names."""
        found: dict[Factors, int] = {}
        for factors, value in self.terms:
            for name in factors:
                value *= names.get(name, 1)
            left = tuple(name for name in factors if name not in names)
            found[left] = found.get(left, 0) + value
        return number(found)

    def __str__(self) -> str:
        """Write it in VHDL, without brackets."""
        rows = sorted(self.terms, key=lambda term: (not term[0], term[1] < 0))
        out = ""
        for factors, value in rows:
            written = " * ".join(factors)
            if not factors:
                written = str(abs(value))
            elif abs(value) != 1:
                written = f"{abs(value)} * {written}"
            sign = "-" if value < 0 else "+"
            out += f" {sign} {written}" if out else f"-{written}" if value < 0 else written
        return out or "0"


def number(terms: Mapping[Factors, int] | int) -> Num:
    """Return a sum of products, or a plain number."""
    if isinstance(terms, int):
        terms = {(): terms}
    return Num(tuple(sorted((factors, value) for factors, value in terms.items() if value)))


ZERO = number(0)


def added(one: Num, other: Num) -> Num:
    """Return the sum of two numbers."""
    found = dict(one.terms)
    for factors, value in other.terms:
        found[factors] = found.get(factors, 0) + value
    return number(found)
