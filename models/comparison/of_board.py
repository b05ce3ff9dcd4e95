"""A board's figures with their levels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from merp.models.comparison.figure import Figure, derived
from merp.models.fpga.board import Board

_LEVELS: Final = {
    "printed": "printed",
    "vendor": "printed",
    "derived": "formula",
    "assumed": "assumed",
}
"""Level of a figure by its origin; without an origin it is assumed."""


def figure(board: Board, place: str, value: float) -> Figure:
    """Return a figure of ``board``; ``place`` is its key in ``Board.sources``."""
    source = board.sources.get(place)
    return Figure(value, _LEVELS[source.origin] if source else "assumed")


def clock(board: Board) -> Figure:
    """Return the clock of the engine, MHz."""
    return figure(board, "board: clock_mhz", board.clock_mhz)


def power(board: Board) -> Figure | None:
    """Return the power of a board, W; None without a source."""
    if board.power_w is None:
        return None
    return figure(board, "board: power_w", board.power_w)


def limits(board: Board) -> Mapping[str, int]:
    """Return the resources that a design may use, by kind."""
    room = board.room
    return {"lut": room.luts, "ff": room.flip_flops, "bram": room.block_rams, "dsp": room.dsps}


def memory(board: Board) -> Figure:
    """Return the reachable rate of the external memory, 10^9 bytes a second."""
    peak = figure(board, "memory: gbytes_s", board.gbytes_s)
    share = figure(board, "memory: efficiency", board.efficiency)
    return derived(peak.value * share.value, peak, share)


def load_seconds(board: Board) -> Figure:
    """Return the load time of one bitstream."""
    key = "mbytes_s" if board.load_s is None else "seconds"
    return figure(board, f"configuration: {key}", board.load_seconds)
