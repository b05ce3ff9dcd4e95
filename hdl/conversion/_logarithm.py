"""Find widths that follow from a generic. Private to ``merp.hdl.conversion``.

A counter has as many bits as the logarithm of its range, which no sum of generics can express. The
standard forms are tried one after the other.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

_EVIDENCE = 3  # different widths that a generic must explain; two are enough for a parameter


@dataclass(frozen=True)
class Logarithm:
    """The number of bits for ``generic + offset`` numbers, but at least ``least``."""

    generic: str
    offset: int
    least: int

    def of(self, values: Mapping[str, Sequence[int]]) -> tuple[int, ...]:
        """Return its values for the values of the generics."""
        return tuple(max(self.least, ceil_log2(n + self.offset)) for n in values[self.generic])

    def __str__(self) -> str:
        """Write it in VHDL."""
        count = f"{self.generic} + {self.offset}" if self.offset else self.generic
        bits = f"ceil_log2({count})"
        return f"maximum({bits}, {self.least})" if self.least else bits


def ceil_log2(count: int) -> int:
    """Return the number of bits of the numbers from 0 to ``count - 1``."""
    return (count - 1).bit_length()


def logarithm(
    row: Sequence[int],
    known: Mapping[str, Sequence[int]],
    chosen: Sequence[int],
    parameters: Collection[str],
) -> Logarithm | None:
    """Return the first generic with a standard form whose logarithm is a row of widths.

    Args:
        row: the widths in the ``chosen`` configurations.
        known: generics with their values in all configurations.
        parameters: members of ``known`` that are parameters of the block.
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
