"""What an FPGA engineer may want to get hold of in an export: memories, and nets to look at."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from merp.testbenches.top.top import TopPorts

_VHDL = re.compile(r"^ *signal (\w+) +: (\w+)_t\b", re.MULTILINE)
_VERILOG = re.compile(r"^ *reg (?:signed)? *(?:\[[^]]*\])? *(\w+) \[[^]]*\];", re.MULTILINE)


def memories(files: Iterable[Path]) -> list[tuple[str, str]]:
    """Arrays that synthesis may make memories of, as (entity, array), in the order of the files.

    They are written a word at a time, at a place that a signal chooses.
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
    """Nets of the top that tell how far a run has come: handshakes of its streams, interrupt."""
    fields = ("tvalid", "tready", "tlast")
    return [
        *(f"{stream.name}_{field}" for stream in ports.streams for field in fields),
        "interrupt",
    ]
