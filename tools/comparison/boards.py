"""The figures of boards, with the source of each figure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from merp.models.fpga.board import UNSAID, Board, FigureSource
from merp.models.fpga.parts import RAMB36_BITS, Part
from merp.tools.common.table import console, fixed, table

Json = dict[str, Any]

_BLOCK_RAMS = {RAMB36_BITS: "RAMB36", 20_480: "M20K", 16_384: "EBR"}
"""Names of block RAMs, by their data bits."""


def board_answer(board: Board) -> Json:
    """Return a board for programs: each figure with its value, unit, origin and reason."""
    return {
        "name": board.name,
        "part": board.part.name,
        "block_ram": block_ram(board.part),
        "figures": {
            place: {"value": value, "unit": unit, "from": source.origin, "why": source.why}
            for place, value, unit, source in figures(board)
        },
    }


def block_ram(part: Part) -> str:
    """Return the name of a part's block RAM."""
    return _BLOCK_RAMS.get(part.block_bits, f"blocks of {part.block_bits:,} bits")


Line = tuple[str, Any, str, FigureSource]
"""Place in the file, value, unit, source."""


def figures(board: Board) -> list[Line]:
    """Return all figures of a board, those of the part first."""
    part, link, usable = board.part, board.link, board.usable
    of_part = FigureSource(part.origin, part.source)
    capacities = {
        "LUT": part.luts, "FF": part.flip_flops, block_ram(part): part.block_rams,
        "DSP": part.dsps, "bits of a bitstream": part.configuration_bits or None,
    }  # fmt: skip
    found: list[Line] = [(f"part: {k}", v, "", of_part) for k, v in capacities.items() if v]
    given: list[tuple[str, Any, str]] = [
        ("board: clock_mhz", board.clock_mhz, "MHz"),
        ("board: devices", board.devices, ""),
        ("board: power_w", board.power_w, "W"),
        ("memory: gbytes_s", board.gbytes_s, "GB/s"),
        ("memory: efficiency", board.efficiency, ""),
        ("memory: mib", board.memory_mib, "MiB"),
        ("memory: data_bits", board.memory_bits, "bits"),
        ("configuration: seconds", board.load_s, "s"),
        ("configuration: mbytes_s", None if board.load_s else board.load_mbytes_s, "MB/s"),
        ("configuration: flash_mib", board.flash and board.flash.mib, "MiB"),
        ("host: gbytes_s", board.host_gbytes_s, "GB/s"),
    ]
    if "board: usable" in board.sources:
        shares = {"lut": usable.lut, "ff": usable.ff, "bram": usable.bram, "dsp": usable.dsp}
        given.append(("board: usable", shares, ""))
    if link is not None:
        given += [
            ("link: gbytes_s", link.gbytes_s, "GB/s"),
            ("link: lanes", link.lanes, ""),
            ("link: latency_cycles", link.latency_cycles, "cycles"),
        ]
    return found + [
        (place, value, unit, board.sources.get(place, _default(place)))
        for place, value, unit in given
        if value is not None
    ]


def _default(place: str) -> FigureSource:
    return FigureSource("assumed", "one board") if place == "board: devices" else UNSAID


def print_boards(boards: Sequence[Board]) -> None:
    """Print a table of boards."""
    rows = [
        [
            board.name,
            board.part.name,
            f"{board.devices}",
            f"{board.part.luts:,}",
            f"{board.part.flip_flops:,}",
            f"{board.part.block_rams:,} {block_ram(board.part)}",
            f"{board.part.dsps:,}",
            fixed(board.gbytes_s, 1),
            fixed(board.host_gbytes_s, 1),
            f"{board.clock_mhz:g}",
        ]
        for board in boards
    ]
    heads = ["board", "part", "devices", "LUT", "FF", "block RAM", "DSP"]
    console().print(
        table(
            "Boards",
            [*heads, "memory, GB/s", "host, GB/s", "clock, MHz"],
            rows,
            text_columns=2,
            caption="LUT: LUTs with six inputs; with four for ECP5; halves of ALMs for Intel "
            "FPGAs. They are never converted. merp boards BOARD lists the source of each figure.",
        )
    )


def print_board(board: Board) -> None:
    """Print the figures of a board."""
    rows = [
        [place, source.origin, source.why, _said(value), unit]
        for place, value, unit, source in figures(board)
    ]
    console().print(
        table(
            f"{board.name}: {board.part.name}",
            ["figure", "from", "why", "value", "unit"],
            rows,
            text_columns=3,
            caption="printed: in a paper; vendor: in a data sheet; derived: from other figures; "
            "assumed: without a source.",
        )
    )


def _said(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {share:g}" for name, share in value.items())
    return f"{value:,}" if isinstance(value, int) else f"{value:g}"
