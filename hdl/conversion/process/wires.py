"""Represent ``target.assign(source)``: a signal that always has the value of another one."""

from __future__ import annotations

from typing import Any

from myhdl import EnumItemType, intbv

from merp.hdl.conversion.base.errors import ExportError
from merp.hdl.conversion.base.internals import enum_of
from merp.hdl.conversion.process.check import check
from merp.hdl.conversion.process.meaning import Assign, Meaning, Read, Target
from merp.hdl.conversion.process.process import Kind, Process
from merp.hdl.conversion.process.ranges import BIT, Range
from merp.hdl.conversion.process.sizing import sized


def wired(block: str, place: tuple[str, int], target: Any, source: Any, holds: bool) -> Process:
    """Return the process that drives a signal to which another one is assigned.

    Args:
        block: its name, for refusals.
        place: its file and line.
        target: the assigned signal.
        source: the signal with the value.
        holds: as for ``sizing.sized``.

    Raises:
        ExportError: a signal has no fixed number of bits, or the two have different types.
    """
    left, right = _read(block, target), _read(block, source)
    if _enum(target) is not _enum(source):
        raise ExportError(
            f"{block}: a signal is assigned to one of another type; give both one type"
        )
    meaning = Meaning([Assign(Target(left), right)])
    meaning.reads[id(source)], meaning.drives[id(target)] = source, target
    enum = _enum(target)
    if enum is not None:
        meaning.enums[id(enum)] = enum, None
    found = Process("wire", place, Kind.ASSIGN, meaning)
    found.sized = sized(meaning, holds)
    check(found.name, found.sized.statements)
    return found


def _enum(signal: Any) -> Any:
    return enum_of(signal.val) if isinstance(signal.val, EnumItemType) else None


def _read(block: str, signal: Any) -> Read:
    held = signal.val
    if isinstance(held, bool):
        return Read(signal, range=BIT, is_bool=True, length=1)
    if isinstance(held, EnumItemType):
        return Read(signal)
    if not isinstance(held, intbv) or not len(signal):
        raise ExportError(f"{block}: a signal that is assigned has no fixed number of bits")
    return Read(signal, range=Range(held.min, held.max - 1), length=len(signal))
