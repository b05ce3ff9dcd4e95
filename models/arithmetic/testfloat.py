"""Vector files in Berkeley TestFloat's text format, and their use for flush-to-zero hardware.

A line is ``a b result flags``, all hexadecimal, as ``testfloat_gen f32_add`` prints it (Hauser,
testfloat_gen.html, release 3e, section "Output Format"). Flag bits: 1 inexact, 2 underflow, 4
overflow, 8 divide by zero, 16 invalid.

TestFloat computes with gradual underflow. These rules convert a row for flush-to-zero hardware:

- Any NaN is replaced by the canonical NaN.
- *converted*: a subnormal operand becomes a signed zero. Zero plus or times any operand needs no
  rounding: the result is the other operand, a signed zero, or NaN.
- *converted*: a subnormal result becomes a zero of its sign. The value is below the smallest normal
  number in every rounding direction.
- *outside*: the result is the smallest normal number with the underflow flag. Gradual rounding gave
  this number; rounding with unbounded exponent may give a smaller one. This depends on how the
  file's author detects tininess, and the file does not record it.
- *converted* instead, if the caller gives the tininess. Tininess after rounding: the flag means
  that the value rounded with unbounded exponent is below the smallest normal number, so the result
  is a zero. Tininess before rounding: the exact product of the significands shows whether it is
  nearer to the number below.
- Every other row is used as printed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Literal

import numpy as np
from numpy.typing import NDArray

from merp.models.arithmetic.hex_lines import CHUNK, HexLines, WordColumn
from merp.models.arithmetic.words import as_words
from merp.models.base.bits import Bits
from merp.models.base.errors import BadInput
from merp.models.base.formats import BINARY16, BINARY32, FloatFormat

UNDERFLOW = 2
OPERATIONS = ("add", "sub", "mul")
_BY_DIGITS = {8: BINARY32, 4: BINARY16}
_FLAGS = WordColumn("flags", 2, 31)

Tininess = Literal["before", "after"]


@dataclass(frozen=True)
class FileVectors:
    """Rows of a file, all arrays (rows,) of words; ``lines`` are line numbers, from 1."""

    fmt: FloatFormat
    lines: NDArray[np.int64]
    a: Bits
    b: Bits
    result: Bits
    flags: Bits


@dataclass(frozen=True)
class FlushedResult:
    """Expected results of flush-to-zero hardware.

    Attributes:
        words: (rows,) canonical results; meaningless where ``outside`` is true.
        converted: (rows,) whether the rule derived the word instead of using the printed word.
        outside: (rows,) whether the row gives no result for flush-to-zero hardware.
    """

    words: Bits
    converted: NDArray[np.bool_]
    outside: NDArray[np.bool_]


def _digits(fmt: FloatFormat) -> int:
    return -(-fmt.width // 4)


def _format(line: str, fmt: FloatFormat | None, where: str) -> FloatFormat:
    """Choose the format by the digits of the first word; 4 digits mean binary16 by default."""
    digits = len(line.split()[0])
    if fmt is None and digits in _BY_DIGITS:
        return _BY_DIGITS[digits]
    if fmt is None or digits != _digits(fmt):
        allowed = "8 or 4" if fmt is None else f"{_digits(fmt)}"
        raise BadInput(f"{where}: a has {digits} digits: allowed are {allowed} hexadecimal digits")
    return fmt


def read_vectors(
    source: BinaryIO,
    name: str,
    fmt: FloatFormat | None = None,
    prefix: str | None = None,
    chunk: int = CHUNK,
) -> Iterator[FileVectors]:
    """Read a stream in chunks; empty lines are skipped.

    Args:
        source: the stream.
        name: its name in error messages.
        fmt: number format; by default 8 digits are binary32 and 4 are binary16.
        prefix: the text of the first line, ``testfloat_gen -prefix``.
        chunk: bytes to read at a time.

    Raises:
        BadInput: the stream cannot be read, has no rows, or a line does not have the format.
    """
    lines = HexLines(source, name, chunk)
    if prefix is not None:
        first = lines.peek()
        if first is None or first.rstrip("\r") != prefix:
            raise BadInput(f"{lines.where()}: not the text of --prefix: {prefix!r} is allowed")
        lines.skip()
    while (line := lines.peek()) is not None and not line.strip():
        lines.skip()
    if line is None:
        raise BadInput(f"{name}: 0 rows: at least one line (a b result flags) is needed")
    fmt = _format(line, fmt, lines.where())
    words = [WordColumn.of_bits(key, fmt.width) for key in ("a", "b", "result")]
    for rows in lines.rows([*words, _FLAGS]):
        yield FileVectors(fmt, rows.lines, *rows.words)


def write_vectors(path: Path, rows: Iterable[tuple[int, int, int, int]], fmt: FloatFormat) -> None:
    """Write rows of a, b, result, flags."""
    digits = _digits(fmt)
    with path.open("w", encoding="ascii") as file:
        for *words, flags in rows:
            file.write(" ".join(f"{word:0{digits}X}" for word in words) + f" {flags:02X}\n")


def terms(op: str, vectors: FileVectors) -> tuple[Bits, Bits]:
    """Return the operands of the unit; a difference is a sum with the sign of b inverted."""
    sign = vectors.fmt.sign_bit if op == "sub" else 0
    return vectors.a, vectors.b ^ vectors.b.dtype.type(sign)


def _nearer_below(a: Bits, b: Bits, fmt: FloatFormat) -> NDArray[np.bool_]:
    """Return whether a product just below the smallest normal number is nearer to its lower
    neighbour.

    The neighbour is the next lower number with unbounded exponent. Halfway, the smallest normal
    number is chosen, because it is even. The result is exact: significands of 24 bits have products
    of 48 bits.
    """
    hidden = 1 << fmt.frac_bits
    x, y = (words.astype(np.uint64) & (hidden - 1) | hidden for words in (a, b))
    product = x * y
    above = np.where(product >> (2 * fmt.frac_bits + 1), 4, 2).astype(np.uint64) << (
        2 * fmt.frac_bits
    )
    return np.asarray(above - product > above >> (fmt.frac_bits + 2))


def expected(op: str, vectors: FileVectors, tininess: Tininess | None = None) -> FlushedResult:
    """Apply the rule of this module to every row of a file of ``op`` (``OPERATIONS``).

    No row is rounded here: that would compare one implementation with another.
    """
    fmt = vectors.fmt
    full = (1 << fmt.frac_bits) - 1

    def magnitude(words: Bits) -> Bits:
        return as_words(words & (fmt.sign_bit - 1), fmt)

    def subnormal(words: Bits) -> NDArray[np.bool_]:
        return (words & fmt.inf == 0) & (words & full != 0)

    def zeroed(words: Bits) -> Bits:
        return as_words(np.where(words & fmt.inf == 0, words & fmt.sign_bit, words), fmt)

    a, b = map(zeroed, terms(op, vectors))
    by_operand = subnormal(vectors.a) | subnormal(vectors.b)
    other = np.where(magnitude(a) == 0, b, a)  # of a row with a zero operand
    if op == "mul":
        derived = np.where(other & fmt.inf == fmt.inf, fmt.nan, (a ^ b) & fmt.sign_bit)
    else:
        # -0 only from two negative zeros
        derived = np.where(magnitude(other) == 0, a & b, other)
    words = np.where(by_operand, derived, zeroed(vectors.result))
    converted = by_operand | subnormal(vectors.result)
    border = magnitude(vectors.result) == 1 << fmt.frac_bits
    border &= (vectors.flags & UNDERFLOW != 0) & ~by_operand
    if tininess is not None:
        flushed = border
        if tininess == "before":
            # A sum this small is exact, so no sum is at the border.
            flushed = border & _nearer_below(a, b, fmt) if op == "mul" else np.zeros_like(border)
        words = np.where(flushed, words & fmt.sign_bit, words)
        converted, border = converted | border, np.zeros_like(border)
    words = np.where(magnitude(words) > fmt.inf, fmt.nan, words)
    return FlushedResult(as_words(words, fmt), converted, border)
