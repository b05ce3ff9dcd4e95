"""Widths that follow from a generic. Private to ``merp.hdl.conversion``.

A counter is as wide as the logarithm of what it counts to, and no sum of generics says so. The
standard forms are tried one after the other.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

_EVIDENCE = 3  # unlike widths that a generic has to explain; of a parameter two are enough


@dataclass(frozen=True)
class Logarithm:
    """The bits of ``generic + offset`` numbers, and ``least`` ones at least."""

    generic: str
    offset: int
    least: int

    def of(self, values: Mapping[str, Sequence[int]]) -> tuple[int, ...]:
        """Its values, from those of the generics."""
        return tuple(max(self.least, ceil_log2(n + self.offset)) for n in values[self.generic])

    def __str__(self) -> str:
        """As VHDL writes it."""
        count = f"{self.generic} + {self.offset}" if self.offset else self.generic
        bits = f"ceil_log2({count})"
        return f"maximum({bits}, {self.least})" if self.least else bits


def ceil_log2(count: int) -> int:
    """How many bits the numbers from 0 to ``count - 1`` have."""
    return (count - 1).bit_length()


def logarithm(
    row: Sequence[int],
    known: Mapping[str, Sequence[int]],
    chosen: Sequence[int],
    parameters: Collection[str],
) -> Logarithm | None:
    """The first generic that a row of widths is the logarithm of, by its standard forms.

    Args:
        row: in the ``chosen`` configurations.
        known: generics with their values in all configurations.
        parameters: those of ``known`` that are parameters of the block.
    """
    for least in (0, 1):
        for name, values in known.items():
            enough = 2 if name in parameters else _EVIDENCE
            for offset in (0, 1):
                if min(values) + offset < 1 or len(set(row)) < enough:
                    continue
                found = Logarithm(name, offset, least)
                widths = found.of(known)
                if all(widths[k] == width for k, width in zip(chosen, row, strict=True)):
                    return found
    return None
