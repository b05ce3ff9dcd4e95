"""Names in an export for FPGA engineers: memories, and nets for debugging."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from merp.testbenches.top.top import TopPorts

_VHDL = re.compile(r"^ *signal (\w+) +: (\w+)_t\b", re.MULTILINE)
_VERILOG = re.compile(r"^ *reg (?:signed)? *(?:\[[^]]*\])? *(\w+) \[[^]]*\];", re.MULTILINE)


def memories(files: Iterable[Path]) -> list[tuple[str, str]]:
    """Return arrays that synthesis may map to memories, as (entity, array), in file order.

    They are written a word at a time, at an address that a signal selects.
    """
    kinds = {".vhd": _in_vhdl, ".v": _in_verilog}
    return [(file.stem, name) for file in files for name in kinds[file.suffix](file.read_text())]


def _in_vhdl(text: str) -> Iterator[str]:
    for name, kind in _VHDL.findall(text):
        writes = re.findall(rf"\b{name}\(([^;]*?)\) <= ", text)
        if f"type {kind}_t is array" in text and writes:
            if all(place.startswith("to_integer(") for place in writes):
                yield name


def _in_verilog(text: str) -> Iterator[str]:
    for name in _VERILOG.findall(text):
        writes = re.findall(rf"\b{name}\[([^];]*)\] <= ", text)
        if writes and not any(place.isdigit() for place in writes):
            yield name


def handshakes(ports: TopPorts) -> list[str]:
    """Return nets of the top that show the progress of a run: stream handshakes, interrupt."""
    fields = ("tvalid", "tready", "tlast")
    return [
        *(f"{stream.name}_{field}" for stream in ports.streams for field in fields),
        "interrupt",
    ]
