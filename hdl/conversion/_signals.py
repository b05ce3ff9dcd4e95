"""Write signals as text: slices, bases, sort keys. Private to ``merp.hdl.conversion.convert``."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import count
from typing import Any

from merp.hdl.conversion.base import internals
from merp.hdl.conversion.base.internals import SliceSignal, name_of, slice_of


@dataclass(frozen=True)
class Syntax:
    """The notation of a language for the parts of a signal."""

    index: str
    part: str
    ports_converted: bool  # whether vector ports are copied to numeric signals
    holds: bool  # whether a value is copied to a variable before its bits are used


def span(signal: Any) -> tuple[Any, int, int | None]:
    """Return the base signal of nested slices, the highest bit or index, and the lowest or None."""
    base, low, high, is_index = signal, 0, len(signal), False
    while isinstance(base, SliceSignal):
        base, left, right = slice_of(base)
        if right is None:
            is_index = True
            low += left
        else:
            low += right
    if is_index:
        return base, low, None
    return base, low + high - 1, low


def text(signal: Any, syntax: Syntax) -> str:
    """Write a signal, including slices and elements of lists."""
    if name_of(signal) is None and isinstance(signal, SliceSignal):
        base, high, low = span(signal)
        if low is None:
            return syntax.index % (name_of(base), high)
        return syntax.part % (name_of(base), high, low)
    return str(name_of(signal))


def sources(signal: Any) -> Iterator[Any]:
    """Yield the parts of a slice or a concatenation, recursively."""
    is_slice = isinstance(signal, SliceSignal)
    parts = [slice_of(signal)[0]] if is_slice else internals.signals_in(signal)
    for part in parts:
        yield part
        yield from sources(part)


def mark_read(signal: Any) -> None:
    """Note that a signal is read, and the signals from which its value is made."""
    for part in (signal, *sources(signal)):
        internals.mark_read(part)


def natural(signal: Any) -> tuple[Any, ...]:
    """Return a sort key in which digits of a name count as numbers."""
    parts = re.split(r"(\d+)", str(name_of(signal)))
    return tuple(int(part) if part.isdigit() else part for part in parts)


def index_only_elements(written: str, arrays: Iterable[str]) -> str:
    """Index arrays of one element by 0 instead of a signal; there is no other index.

    GHDL's synthesis accepts no signal there, because its index has no bits.
    """
    for name in arrays:
        parts = re.split(rf"\b{name}\((?=to_integer\()", written)
        written = parts[0] + "".join(f"{name}(0{_from_closing(part)}" for part in parts[1:])
    return written


def elements_by_number(name: str, written: str) -> bool:
    """Return whether an element of an array is addressed by its number."""
    return re.search(rf"\b{name}\(\d+\)", written) is not None


def assign_chosen_elements(written: str, arrays: Iterable[str]) -> str:
    """Assign elements that a signal selects by loops, in arrays that are not memories.

    If elements of an array are also read by number, GHDL 2.0's synthesis makes latches, unless each
    element is assigned by its number.
    """
    for name in arrays:
        before, *statements = re.split(rf"^( *){name}\(", written, flags=re.MULTILINE)
        used = set(re.findall(r"\w+", written.lower()))
        numbers = (f"{name}_at{n or ''}" for n in count())
        at = next(each for each in numbers if each.lower() not in used)
        written = before
        for space, statement in zip(statements[::2], statements[1::2], strict=True):
            closing = _from_closing(statement)
            index = statement[: len(statement) - len(closing)]
            if "to_integer(" not in index:
                written += f"{space}{name}({statement}"
                continue
            assigned, following = closing.split(";", 1)
            written += (
                f"{space}for {at} in {name}'range loop\n"
                f"{space}    if {at} = {index} then\n"
                f"{space}        {name}({at}{assigned};\n"
                f"{space}    end if;\n"
                f"{space}end loop;{following}"
            )
    return written


def _from_closing(text: str) -> str:
    """Return the text from the parenthesis that closes an opening one."""
    depth = 1
    for at, each in enumerate(text):
        depth += (each == "(") - (each == ")")
        if not depth:
            return text[at:]
    raise ValueError(f"a parenthesis is not closed: {text[:60]}")
