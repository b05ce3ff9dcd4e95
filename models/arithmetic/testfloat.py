"""Vector files in Berkeley TestFloat's text format, and what they say about flushing hardware.

A line is ``a b result flags``, all hexadecimal, as ``testfloat_gen f32_add`` prints it (Hauser,
testfloat_gen.html, release 3e, section "Output Format"). Flag bits: 1 inexact, 2 underflow,
4 overflow, 8 divide by zero, 16 invalid.

TestFloat computes with gradual underflow. A row carries over to flush-to-zero hardware so:

- any NaN stands for the canonical NaN;
- *converted*, a subnormal operand is a signed zero, and zero plus or times anything needs no
  rounding: the other operand, a signed zero, or NaN;
- *converted*, a subnormal result becomes a zero of its sign: the value is below the smallest normal
  number however it is rounded;
- *outside*, a result equal to the smallest normal number with the underflow flag: gradual rounding
  took it there, rounding with unbounded exponent may not have. Whether it did depends on how the
  file's author detects tininess, which the file does not say;
- every other row stands as printed.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from merp.models.errors import BadInput
from merp.models.params.bits import Bits
from merp.models.params.formats import FORMATS, FloatFormat

UNDERFLOW = 2
_ALL_FLAGS = 31
_COLUMNS = ("a", "b", "result", "flags")


@dataclass(frozen=True)
class Vectors:
    """The rows of a file, all arrays (rows,) of words; ``lines`` are line numbers, from 1."""

    fmt: FloatFormat
    lines: NDArray[np.uint32]
    a: Bits
    b: Bits
    result: Bits
    flags: NDArray[np.uint32]


@dataclass(frozen=True)
class Expected:
    """What flush-to-zero hardware must answer.

    Attributes:
        words: (rows,) canonical results; meaningless where ``outside``.
        converted: (rows,) whether the rule derived the word instead of taking it as printed.
        outside: (rows,) whether the row says nothing about flush-to-zero hardware.
    """

    words: Bits
    converted: NDArray[np.bool_]
    outside: NDArray[np.bool_]


def _format(digits: int, name: str | None, where: str) -> FloatFormat:
    """Choose the format of words of so many digits; 4 digits are binary16 unless told."""
    fmt = FORMATS[name or ("binary32" if digits == 8 else "binary16")]
    if digits * 4 != fmt.width:
        allowed = f"{fmt.width // 4} hexadecimal digits" if name else "8 or 4 hexadecimal digits"
        raise BadInput(f"{where}: a has {digits} digits: allowed are {allowed}")
    return fmt


def read_vectors(path: Path, format_name: str | None = None) -> Vectors:
    """Read a file; empty lines are skipped.

    Args:
        path: the file.
        format_name: a key of ``FORMATS``; by default 8 digits are binary32 and 4 are binary16.

    Raises:
        BadInput: the file cannot be read, has no rows, or a line is not of the format.
    """
    columns = [array("L") for _ in _COLUMNS]
    lines = array("L")
    fmt: FloatFormat | None = None
    try:
        with path.open(encoding="ascii") as file:
            for line, text in enumerate(file, 1):
                fields = text.split()
                if not fields:
                    continue
                where = f"{path}:{line}"
                if len(fields) != len(_COLUMNS):
                    raise BadInput(
                        f"{where}: {len(fields)} fields: allowed are 4 (a, b, result, flags)"
                    )
                fmt = fmt or _format(len(fields[0]), format_name, where)
                lines.append(line)
                digits = (*(fmt.width // 4,) * 3, 2)
                for key, column, field, size in zip(_COLUMNS, columns, fields, digits, strict=True):
                    column.append(_word(field, size, f"{where}: {key}"))
                if columns[3][-1] > _ALL_FLAGS:
                    raise BadInput(f"{where}: flags {fields[3]!r}: allowed are 00 to 1F")
    except OSError as error:
        raise BadInput(f"{path}: {error.strerror}: a readable file is needed") from error
    except UnicodeDecodeError as error:
        raise BadInput(f"{path}: not text: allowed are hexadecimal digits and spaces") from error
    if fmt is None:
        raise BadInput(f"{path}: 0 rows: at least one line (a b result flags) is needed")
    a, b, result, flags = (np.array(column, np.uint32) for column in columns)
    return Vectors(fmt, np.array(lines, np.uint32), a, b, result, flags)


_HEXADECIMAL = frozenset("0123456789abcdefABCDEF")


def _word(field: str, digits: int, where: str) -> int:
    if len(field) != digits or not _HEXADECIMAL.issuperset(field):  # int() also takes 0x and _
        raise BadInput(f"{where} {field!r}: allowed are {digits} hexadecimal digits")
    return int(field, 16)


def write_vectors(path: Path, rows: Iterable[tuple[int, int, int, int]], fmt: FloatFormat) -> None:
    """Write rows of a, b, result, flags."""
    digits = fmt.width // 4
    with path.open("w", encoding="ascii") as file:
        for *words, flags in rows:
            file.write(" ".join(f"{word:0{digits}X}" for word in words) + f" {flags:02X}\n")


def expected(op: str, vectors: Vectors) -> Expected:
    """Apply the rule of this module to every row of a file of ``op`` (``add`` or ``mul``).

    No row is computed: that would compare one implementation with another.
    """
    fmt = vectors.fmt
    full = (1 << fmt.frac_bits) - 1

    def subnormal(words: Bits) -> NDArray[np.bool_]:
        return (words & fmt.inf == 0) & (words & full != 0)

    def zeroed(words: Bits) -> Bits:
        return np.where(words & fmt.inf == 0, words & fmt.sign_bit, words).astype(np.uint32)

    def is_nan(words: Bits) -> NDArray[np.bool_]:
        return (words & fmt.inf == fmt.inf) & (words & full != 0)

    a, b = zeroed(vectors.a), zeroed(vectors.b)
    by_operand = subnormal(vectors.a) | subnormal(vectors.b)
    by_result = subnormal(vectors.result) & ~by_operand
    a_zero = a & ~np.uint32(fmt.sign_bit) == 0
    other = np.where(a_zero, b, a)  # of a row with a zero operand
    if op == "add":
        both_zero = other & ~np.uint32(fmt.sign_bit) == 0
        derived = np.where(both_zero, a & b, other)  # -0 only from two negative zeros
    else:
        derived = np.where(other & fmt.inf == fmt.inf, fmt.nan, (a ^ b) & fmt.sign_bit)
    words = np.where(by_operand, derived, zeroed(vectors.result))
    words = np.where(is_nan(words.astype(np.uint32)), fmt.nan, words).astype(np.uint32)
    smallest = vectors.result & ~np.uint32(fmt.sign_bit) == 1 << fmt.frac_bits
    outside = smallest & (vectors.flags & UNDERFLOW != 0) & ~by_operand
    return Expected(words, by_operand | by_result, outside)
