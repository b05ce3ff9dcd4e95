"""Signals as text: slices, their bases, sort keys. Private to ``merp.hdl.conversion.convert``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from myhdl._ShadowSignal import _SliceSignal

from merp.hdl.conversion._names import Names


@dataclass(frozen=True)
class Syntax:
    """How a language writes the parts of a signal."""

    index: str
    part: str
    ports_converted: bool  # whether vector ports are copied to numeric signals


def span(signal: Any) -> tuple[Any, int, int | None]:
    """Base signal of a slice (of a slice ...), its highest bit or index, and lowest bit or None."""
    base, low, high, is_index = signal, 0, signal._nrbits, False
    while isinstance(base, _SliceSignal):
        if base._right is None:
            is_index = True
            low += base._left
        else:
            low += base._right
        base = base._sig
    if is_index:
        return base, low, None
    return base, low + high - 1, low


def text(signal: Any, syntax: Syntax) -> str:
    """How to write a signal, slices and elements of lists included."""
    if signal._name is None and isinstance(signal, _SliceSignal):
        base, high, low = span(signal)
        if low is None:
            return syntax.index % (base._name, high)
        return syntax.part % (base._name, high, low)
    return str(signal._name)


def sources(signal: Any) -> Iterator[Any]:
    """What a slice or a concatenation is made of, all the way down."""
    parts = [signal._sig] if isinstance(signal, _SliceSignal) else getattr(signal, "_sigargs", ())
    for part in parts:
        yield part
        yield from sources(part)


def mark_read(signal: Any) -> None:
    """Note that a signal is read, and what its value is made of."""
    for part in (signal, *sources(signal)):
        part._read = True


def readable_labels(written: str, names: Names) -> str:
    """Rename MyHDL's labels of functions and loops (``MYHDL3__weight``, ``MYHDL4_LOOP``).

    Not to the plain name of the function: a variable may have that.
    """
    known: dict[str, str] = {}

    def name(match: re.Match[str]) -> str:
        label, inner = match.group(), match.group(1)
        if label not in known:
            kind = "label" if inner.isupper() else "function"
            known[label] = names.unique(f"{inner.lower()}_{kind}")
        return known[label]

    return re.sub(r"\bMYHDL\d+_(\w+)\b", name, written)


def fold_constants(written: str) -> str:
    """Compute ``(24 - 1)`` and the ``24-1`` that MyHDL writes for the bound of a slice."""

    def value(match: re.Match[str]) -> str:
        left, operator, right = match.groups()
        a, b = int(left), int(right)
        return str({"-": a - b, "+": a + b, "*": a * b}[operator])

    before = ""
    while before != written:
        before = written
        written = re.sub(r"(?<![\w'])\((\d+) ([-+*]) (\d+)\)", value, written)
    return re.sub(r"(?<=[(\[])(\d+)(-)(1)(?= downto|:)", value, written)


def natural(signal: Any) -> tuple[Any, ...]:
    """Sort key: digits in a name count as numbers."""
    parts = re.split(r"(\d+)", str(signal._name))
    return tuple(int(part) if part.isdigit() else part for part in parts)
