"""Read a board file (TOML); its keys are described in docs/plan.md.

A figure is a number, or a table with the number as ``value``, its origin as ``from``, and ``why``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any, TypeVar

from merp.models.base.errors import BadInput
from merp.models.base.names import ALLOWED_NAME, is_name
from merp.models.base.toml_section import Section, read_toml
from merp.models.fpga.board import (
    DDR3,
    LOAD_MBYTES_S,
    MEMORY_BITS,
    MEMORY_KINDS,
    MOST_BITS,
    MOST_CELLS,
    MOST_DEVICES,
    MOST_MIB,
    ORIGINS,
    TOPOLOGIES,
    UNSAID,
    Board,
    FigureSource,
    Link,
    Usable,
    VivadoBoard,
)
from merp.models.fpga.flash import KINDS, MOST_FLASH_MIB, WARM_BOOT, Flash
from merp.models.fpga.order_codes import FAMILIES, family_of, known_part
from merp.models.fpga.parts import KNOWN, RAMB36_BITS, Part, listed

Value = TypeVar("Value")

_LEAST = {"lut": 1, "ff": 1, "bram": 0, "dsp": 0}
"""Kinds of a capacity, and the least number of each."""


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
        vivado = self._optional("vivado")
        name, clock_mhz = head.name(), self._number(head, "clock_mhz", 1, 2000)
        part = self._part(head, clock_mhz)
        found = Board(
            name=name,
            part=part,
            clock_mhz=clock_mhz,
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
            memory_kind=memory.choice("kind", MEMORY_KINDS, DDR3),
            link=self._link(link) if link else None,
            vivado=_vivado(vivado) if vivado else None,
            flash=self._flash(loads, part) if loads else None,
            sources=self._sources,
        )
        if loads and found.load_s is None and not loads.has("mbytes_s"):
            raise loads.bad("mbytes_s", "there, or seconds")
        if found.load_s is None and not found.part.configuration_bits:
            raise BadInput(
                f"{self._root.file}: configuration: seconds is missing: the size of a bitstream "
                f"of {found.part.name} is unknown"
            )
        for section in (head, memory, loads, host, link, vivado, self._root):
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

    def _part(self, head: Section, clock_mhz: float) -> Part:
        """Return the known part, or the part whose capacity the file has."""
        name, stated = head.text("part"), head.has("capacity")
        known = known_part(name)
        if known is None and not stated:
            raise head.bad("part", f"one of {listed(KNOWN)}, or the board needs capacity = {{...}}")
        if known is None:
            return self._stated(head, name, clock_mhz)
        if stated:
            raise BadInput(
                f"{head.file}: {head.where}: capacity: that of {known.name} is known: allowed is "
                "usable = {...}, shares of it"
            )
        return known

    def _stated(self, head: Section, name: str, clock_mhz: float) -> Part:
        if not is_name(name):
            raise head.bad("part", ALLOWED_NAME)
        inner = head.table("capacity")
        if inner.has("from"):
            self._said(head, "capacity", inner)
        source = self._sources.get("board: capacity", UNSAID)
        counts = (inner.whole(kind, low, MOST_CELLS) for kind, low in _LEAST.items())
        luts, flip_flops, block_rams, dsps = counts
        found = Part(
            name=name, order_code=name, clock_mhz=clock_mhz,
            luts=luts, flip_flops=flip_flops, block_rams=block_rams, dsps=dsps,
            block_bits=inner.whole("block_bits", 1, MOST_CELLS, RAMB36_BITS),
            configuration_bits=inner.whole("bitstream_bits", 1, MOST_BITS, 0),
            origin=source.origin, source=source.why,
        )  # fmt: skip
        inner.finish()
        return found

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

    def _flash(self, loads: Section, part: Part) -> Flash | None:
        if not loads.has("flash") and not loads.has("flash_mib"):
            return None
        kind, mib = loads.choice("flash", KINDS), self._whole(loads, "flash_mib", 1, MOST_FLASH_MIB)
        family = family_of(part.order_code)
        if family is None or family.name not in WARM_BOOT:
            titles = ", ".join(each.title for each in FAMILIES if each.name in WARM_BOOT)
            raise BadInput(
                f"{loads.file}: {loads.where}: flash: {part.order_code}: allowed are parts that "
                f"boot from flash by ICAPE2: {titles}"
            )
        if not part.configuration_bits:
            raise BadInput(
                f"{loads.file}: {loads.where}: flash: the size of a bitstream of {part.name} is "
                "unknown: allowed is a capacity with bitstream_bits"
            )
        return Flash(kind=kind, mib=mib)

    def _link(self, link: Section) -> Link:
        return Link(
            topology=link.choice("topology", TOPOLOGIES),
            gbytes_s=self._number(link, "gbytes_s", 0.001, 10_000),
            lanes=self._whole(link, "lanes", 1, 1024),
            latency_cycles=self._whole(link, "latency_cycles", 0, 1 << 20),
        )


def _vivado(section: Section) -> VivadoBoard:
    board_part = section.text("board_part")
    if not re.fullmatch(r"[\w.-]+:[\w.-]+:part\d+", board_part, re.ASCII):
        raise section.bad("board_part", "VENDOR:BOARD:PART, as xilinx.com:kc705:part0")
    return VivadoBoard(board_part=board_part, pynq=section.flag("pynq", default=False))


def _bits(section: Section, key: str) -> int:
    """Read the width of a memory."""
    found = section.whole(key, MEMORY_BITS[0], MEMORY_BITS[-1])
    if found not in MEMORY_BITS:
        raise section.bad(key, f"one of {', '.join(map(str, MEMORY_BITS))}")
    return found
