"""Vector files of fused sums, in text: ``cu_fused`` over a window, ``row_array`` over a row.

The first line gives the kind of sum and its parameters. Each further line is one sum:

    fused taps=9 dsp=1 window=32 precision=24
    <taps words of a> <taps words of b> <their sum of products>

The kind is ``fused`` or ``row``; ``dsp``, ``window`` and ``precision`` are those of ``Summation``.
Operands are binary32 (8 hexadecimal digits). The sum has the accumulator's format, 8 + precision
bits. a is the activation, b the kernel or the delta. With one DSP they cannot be swapped.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from merp.models.arithmetic.hex_lines import CHUNK, HexLines, WordColumn
from merp.models.base.bits import Bits
from merp.models.base.errors import BadInput
from merp.models.base.formats import BINARY32, FloatFormat
from merp.models.base.summation import Summation

KINDS = ("fused", "row")
MOST_TAPS = 1024
_HEADER = re.compile(r"(\w+) taps=(\d{1,9}) dsp=(\d{1,9}) window=(\d{1,9}) precision=(\d{1,9})\s*")
_ALLOWED = "kind taps=N dsp=N window=N precision=N"


@dataclass(frozen=True)
class SumSet:
    """The kind of sums in a file (one of ``KINDS``), the number of products, and the arithmetic.

    Raises:
        ValueError: a value is out of range.
    """

    kind: str
    taps: int
    summation: Summation

    def __post_init__(self) -> None:
        """Check the fields."""
        if self.kind not in KINDS:
            raise ValueError(f"kind must be one of {', '.join(KINDS)}, not {self.kind}")
        if not 1 <= self.taps <= MOST_TAPS:
            raise ValueError(f"taps must be a whole number from 1 to {MOST_TAPS}, not {self.taps}")

    @property
    def fmt(self) -> FloatFormat:
        """Format of the sums."""
        return self.summation.accumulator_format(BINARY32)


@dataclass(frozen=True)
class SumVectors:
    """Rows of a file: a, b (rows, taps) words, result (rows,); line numbers from 1."""

    lines: NDArray[np.int64]
    a: Bits
    b: Bits
    result: Bits


def sums_of(kind: str, taps: int, dsp: int, window: int, precision: int) -> SumSet:
    """Describe a file.

    Raises:
        BadInput: a value is out of range.
    """
    try:
        choice = Summation(kind="fused", dsp=dsp, window=window, precision=precision)
        return SumSet(kind, taps, choice)
    except ValueError as error:
        raise BadInput(str(error)) from error


class SumFile:
    """A stream of sums: ``sums`` is read immediately, the rows on demand.

    Raises:
        BadInput: the stream cannot be read, or the first line is wrong.
    """

    def __init__(self, source: BinaryIO, name: str, kind: str, chunk: int = CHUNK) -> None:
        self._name = name
        self._lines = HexLines(source, name, chunk)
        text = self._lines.peek()
        if text is None:
            raise BadInput(f"{name}: 0 rows: a first line ({_ALLOWED}) is needed")
        found = _HEADER.fullmatch(text)
        if found is None:
            raise BadInput(f"{self._lines.where()}: allowed as the first line is {_ALLOWED}")
        if found[1] != kind:
            raise BadInput(f"{self._lines.where()}: {found[1][:40]} sums: {kind} is asked for")
        taps, *choice = map(int, found.groups()[1:])
        try:
            self.sums = sums_of(kind, taps, *choice)
        except BadInput as error:
            raise BadInput(f"{self._lines.where()}: {error}") from error
        self._lines.skip()

    def rows(self) -> Iterator[SumVectors]:
        """Read the rows in chunks; empty lines are skipped.

        Raises:
            BadInput: the stream cannot be read, has no rows, or a line is not of the format.
        """
        taps = self.sums.taps
        operands = [WordColumn.of_bits(f"{side}{tap}", 32) for side in "ab" for tap in range(taps)]
        count = 0
        for rows in self._lines.rows([*operands, WordColumn.of_bits("sum", self.sums.fmt.width)]):
            a, b = np.stack(rows.words[:taps], axis=1), np.stack(rows.words[taps:-1], axis=1)
            count += len(rows.lines)
            yield SumVectors(rows.lines, a, b, rows.words[-1])
        if not count:
            raise BadInput(f"{self._name}: 0 rows: at least one line (a, b, sum) is needed")


def sum_lines(sums: SumSet, a: Bits, b: Bits, result: Bits) -> str:
    """Return the text of a file: a, b (rows, taps) words, result (rows,)."""
    choice = sums.summation
    lines = [
        f"{sums.kind} taps={sums.taps} dsp={choice.dsp} window={choice.window} "
        f"precision={choice.precision}"
    ]
    digits = -(-sums.fmt.width // 4)
    for x, y, total in zip(a.tolist(), b.tolist(), result.tolist(), strict=True):
        lines.append(" ".join([*(f"{word:08X}" for word in (*x, *y)), f"{total:0{digits}X}"]))
    return "\n".join(lines) + "\n"
