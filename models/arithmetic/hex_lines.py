"""Lines of hexadecimal words, read in chunks of bounded size: shared by all kinds of vector files.

Lines in the usual format, with one space between words, are parsed together, a chunk at a time. Any
other line is parsed individually. Error messages arise there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from merp.models.base.bits import Bits
from merp.models.base.errors import BadInput

CHUNK = 1 << 20  # bytes: a number of rows that suits the processor's cache; also the longest line
_SHOWN = 40  # characters shown of a wrong field

_DIGITS = frozenset("0123456789abcdefABCDEF")
_GAP, _OTHER = 16, 255
_CLASS = np.full(256, _OTHER, np.uint8)  # the value of a digit, or ``_OTHER``
_CLASS[ord(" ")] = _GAP
for _digit in _DIGITS:
    _CLASS[ord(_digit)] = int(_digit, 16)


@dataclass(frozen=True)
class WordColumn:
    """A word of each line: its name, its number of digits, and its largest allowed value."""

    name: str
    digits: int
    largest: int

    @staticmethod
    def of_bits(name: str, bits: int) -> WordColumn:
        """Return the column of words that have ``bits`` bits."""
        return WordColumn(name, -(-bits // 4), (1 << bits) - 1)


@dataclass(frozen=True)
class LineRows:
    """Rows of words: ``words[c][i]`` is column c of line ``lines[i]``, counted from 1."""

    lines: NDArray[np.int64]
    words: list[Bits]


class HexLines:
    """The lines of a binary stream.

    Args:
        source: the stream.
        name: its name in error messages.
        chunk: bytes to read at a time; no line may be longer.
    """

    def __init__(self, source: BinaryIO, name: str, chunk: int = CHUNK) -> None:
        self._source, self._name, self._chunk = source, name, chunk
        self._line = 1  # of the first byte of the buffer
        self._buffer = b""
        self._ended = False

    def where(self) -> str:
        """Return the name and the number of the next line."""
        return f"{self._name}:{self._line}"

    def peek(self) -> str | None:
        """Return the next line without consuming it, or None at the end."""
        while b"\n" not in self._buffer and not self._ended:
            self._fill()
        return self._text(self._line, self._buffer.partition(b"\n")[0]) if self._buffer else None

    def skip(self) -> None:
        """Skip the line that ``peek`` returned."""
        self._buffer = self._buffer.partition(b"\n")[2]
        self._line += 1

    def rows(self, columns: Sequence[WordColumn]) -> Iterator[LineRows]:
        """Read the remaining rows; empty lines and chunks without a row are skipped.

        Raises:
            BadInput: the stream cannot be read, or a line does not have these columns; the first
                such line is reported.
        """
        while self._buffer or not self._ended:
            self._fill()
            end = len(self._buffer) if self._ended else self._buffer.rfind(b"\n") + 1
            whole, self._buffer = self._buffer[:end], self._buffer[end:]
            if whole:
                found = self._parse(whole, columns)
                if len(found.lines):
                    yield found

    def _fill(self) -> None:
        if self._ended:
            return
        try:
            data = self._source.read(self._chunk)
        except OSError as error:
            raise BadInput(f"{self._name}: {error.strerror}: a readable file is needed") from error
        self._ended = not data
        self._buffer += data
        if len(self._buffer) > self._chunk and b"\n" not in self._buffer:
            raise BadInput(f"{self.where()}: allowed are lines of at most {self._chunk} characters")

    def _text(self, line: int, data: bytes) -> str:
        try:
            return data.decode("ascii")
        except UnicodeDecodeError as error:
            raise BadInput(
                f"{self._name}:{line}: not text: allowed are hexadecimal digits and spaces"
            ) from error

    def _parse(self, chunk: bytes, columns: Sequence[WordColumn]) -> LineRows:
        if b"\r" in chunk:
            chunk = chunk.replace(b"\r\n", b"\n")
        if not chunk.endswith(b"\n"):
            chunk += b"\n"
        data = np.frombuffer(chunk, np.uint8)
        ends = np.flatnonzero(data == ord("\n"))
        starts = np.concatenate([[0], ends[:-1] + 1])
        first, self._line = self._line, self._line + len(ends)

        shape = _shape(columns)
        usual = np.flatnonzero(ends - starts == len(shape))
        if len(usual) == len(ends):
            grid = data.reshape(len(ends), -1)[:, :-1]
        else:
            grid = data[starts[usual, None] + np.arange(len(shape))]
        classes = _CLASS[grid]
        right = ((classes >> 4) == shape).all(axis=1)
        words: list[Bits] = []
        low = 0
        for column in columns:
            kind: Any = np.uint32 if column.digits <= 8 else np.uint64
            word: Bits = np.zeros(len(usual), kind)
            for place in range(low, low + column.digits):
                word <<= 4
                word |= classes[:, place] & 15
            right &= word <= column.largest
            full = np.zeros(len(ends), kind)
            full[usual] = word
            words.append(full)
            low += column.digits + 1

        odd = np.ones(len(ends), bool)
        odd[usual[right]] = False
        kept = ~odd
        read: list[list[int]] = []
        for index in np.flatnonzero(odd).tolist():
            text = self._text(first + index, chunk[starts[index] : ends[index]])
            values = _row(text, columns, f"{self._name}:{first + index}")
            if values is not None:
                kept[index] = True
                read.append(values)
        for full, column_words in zip(words, zip(*read, strict=True), strict=False):
            full[kept & odd] = column_words
        return LineRows(first + np.flatnonzero(kept), [full[kept] for full in words])


def _shape(columns: Sequence[WordColumn]) -> NDArray[np.uint8]:
    """Return the kind of each character of a usual line: 0 a digit, 1 a gap."""
    text = " ".join("0" * column.digits for column in columns)
    return np.array([character == " " for character in text], np.uint8)


def _row(text: str, columns: Sequence[WordColumn], where: str) -> list[int] | None:
    fields = text.split()
    if not fields:
        return None
    if len(fields) != len(columns):
        names = [column.name for column in columns]
        few = names if len(names) <= 4 else [names[0], "...", names[-1]]
        raise BadInput(
            f"{where}: {len(fields)} fields: allowed are {len(columns)} ({', '.join(few)})"
        )
    return [_word(field, column, where) for column, field in zip(columns, fields, strict=True)]


def _word(field: str, column: WordColumn, where: str) -> int:
    digits = column.digits
    if len(field) != digits or not _DIGITS.issuperset(field):  # int() also accepts 0x and _
        allowed = f"{digits} hexadecimal digits"
    elif (word := int(field, 16)) <= column.largest:
        return word
    else:
        allowed = f"{0:0{digits}X} to {column.largest:0{digits}X}"
    shown = field if len(field) <= _SHOWN else field[:_SHOWN] + "..."
    raise BadInput(f"{where}: {column.name} {shown!r}: allowed are {allowed}")
