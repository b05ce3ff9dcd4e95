"""Read a board file (TOML); its keys are described in docs/plan.md.

A figure is a number, or a table with the number as ``value``, its origin as ``from``, and ``why``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any, TypeVar

from merp.models.base.errors import BadInput
from merp.models.base.toml_section import Section, read_toml
from merp.models.fpga.board import (
    LOAD_MBYTES_S,
    MEMORY_BITS,
    MOST_DEVICES,
    MOST_MIB,
    ORIGINS,
    TOPOLOGIES,
    Board,
    FigureSource,
    Link,
    Usable,
)
from merp.models.fpga.parts import FOREIGN, PARTS, Part

Value = TypeVar("Value")


def read_board(path: Path) -> Board:
    """Read the board file ``path``.

    Raises:
        BadInput: unreadable, not TOML, an unknown key, a value out of range, or a part of unknown
            capacities.
    """
    return board_of(path.name, read_toml(path))


def board_of(file: str, tables: Mapping[str, Any]) -> Board:
    """Return the board of the tables of a file, which messages call ``file``.

    Raises:
        BadInput: as in ``read_board``.
    """
    return _Reader(Section(file, "file", tables)).board()


class _Reader:
    """Reads the tables of a file, and stores the origins of its figures."""

    def __init__(self, root: Section) -> None:
        self._root = root
        self._sources: dict[str, FigureSource] = {}

    def board(self) -> Board:
        """Read all of it."""
        head, memory = self._root.table("board"), self._root.table("memory")
        loads, host, link = map(self._optional, ("configuration", "host", "link"))
        found = Board(
            name=head.name(),
            part=_part(head),
            clock_mhz=self._number(head, "clock_mhz", 1, 2000),
            gbytes_s=self._number(memory, "gbytes_s", 0.001, 10_000),
            efficiency=self._number(memory, "efficiency", 0.01, 1),
            load_mbytes_s=self._given(loads, "mbytes_s", 0.01, 100_000) or LOAD_MBYTES_S,
            load_s=self._given(loads, "seconds", 0.000_001, 3600),
            devices=self._whole(head, "devices", 1, MOST_DEVICES) if head.has("devices") else 1,
            usable=self._usable(head),
            host_gbytes_s=self._given(host, "gbytes_s", 0.001, 10_000),
            power_w=self._given(head, "power_w", 0.001, 100_000),
            memory_mib=self._whole(memory, "mib", 1, MOST_MIB) if memory.has("mib") else None,
            memory_bits=self._figure(memory, "data_bits", _bits)
            if memory.has("data_bits")
            else None,
            link=self._link(link) if link else None,
            sources=self._sources,
        )
        if loads and found.load_s is None and not loads.has("mbytes_s"):
            raise loads.bad("mbytes_s", "there, or seconds")
        if found.load_s is None and not found.part.configuration_bits:
            raise BadInput(
                f"{self._root.file}: configuration: seconds is missing: the size of a bitstream "
                f"of {found.part.name} is unknown"
            )
        for section in (head, memory, loads, host, link, self._root):
            if section is not None:
                section.finish()
        return found

    def _optional(self, key: str) -> Section | None:
        return self._root.table(key) if self._root.has(key) else None

    def _figure(self, section: Section, key: str, read: Callable[[Section, str], Value]) -> Value:
        """Read a figure, and its origin if it is given."""
        if not section.has(key) or not isinstance(section.value(key), dict):
            return read(section, key)
        inner = section.table(key)
        self._said(section, key, inner)
        value = read(inner, "value")
        inner.finish()
        return value

    def _said(self, section: Section, key: str, inner: Section) -> None:
        origin, why = inner.choice("from", ORIGINS), inner.text("why")
        self._sources[f"{section.where.removeprefix('file: ')}: {key}"] = FigureSource(origin, why)

    def _number(self, section: Section, key: str, low: float, high: float) -> float:
        return self._figure(section, key, lambda where, name: where.number(name, low, high))

    def _whole(self, section: Section, key: str, low: int, high: int) -> int:
        return self._figure(section, key, lambda where, name: where.whole(name, low, high))

    def _given(self, section: Section | None, key: str, low: float, high: float) -> float | None:
        if section is None or not section.has(key):
            return None
        return self._number(section, key, low, high)

    def _usable(self, head: Section) -> Usable:
        if not head.has("usable"):
            return Usable()
        inner = head.table("usable")
        if inner.has("from"):
            self._said(head, "usable", inner)
        shares = {each.name: inner.number(each.name, 0.01, 1, each.default)  # type: ignore[arg-type]
                  for each in fields(Usable)}  # fmt: skip
        inner.finish()
        return Usable(**shares)

    def _link(self, link: Section) -> Link:
        return Link(
            topology=link.choice("topology", TOPOLOGIES),
            gbytes_s=self._number(link, "gbytes_s", 0.001, 10_000),
            lanes=self._whole(link, "lanes", 1, 1024),
            latency_cycles=self._whole(link, "latency_cycles", 0, 1 << 20),
        )


def _bits(section: Section, key: str) -> int:
    """Read the width of a memory."""
    found = section.whole(key, MEMORY_BITS[0], MEMORY_BITS[-1])
    if found not in MEMORY_BITS:
        raise section.bad(key, f"one of {', '.join(map(str, MEMORY_BITS))}")
    return found


def _part(head: Section) -> Part:
    parts = PARTS | FOREIGN
    part = head.text("part")
    if part not in parts:
        raise BadInput(
            f"{head.file}: {head.where}: part = {part!r}: must be one of {', '.join(parts)}, whose "
            "capacities are known"
        )
    return parts[part]
