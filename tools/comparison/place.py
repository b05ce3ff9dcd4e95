"""Where an architecture is to run, as ``merp map``, ``cluster`` and ``sweep`` ask for it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Protocol

from merp.models.base.errors import BadInput
from merp.models.base.given import given
from merp.models.comparison.architecture import Architecture
from merp.models.fpga.board import MOST_DEVICES, Board, FigureSource
from merp.tools.common.boards import any_board
from merp.tools.common.kinds import Named, OneOf, WholeOption
from merp.tools.common.request import option

LEAST_GBS = 0.001


class Placed(Protocol):
    """Fields of a request that select the board of an architecture."""

    @property
    def board(self) -> str | None:
        """Its name or file; None for the paper's."""

    @property
    def devices(self) -> int | None:
        """Boards; None as the board's file says."""

    @property
    def costs(self) -> str | None:
        """Of a unit."""


def place_board(**more: Any) -> Any:
    """``--board``."""
    says = "a board's name or a TOML file (default: the paper's)"
    return option(Named(), says, "--board", metavar="BOARD", **more)


def place_devices(**more: Any) -> Any:
    """``--devices``."""
    kind, says = WholeOption(1, MOST_DEVICES), "boards (default: as the board's file)"
    return option(kind, says, "--devices", metavar="N", **more)


def place_costs(**more: Any) -> Any:
    """``--costs``."""
    says = "unit costs (default: paper on the paper's own board, else ours)"
    return option(OneOf(("paper", "ours")), says, "--costs", **more)


def board_of(asked: Placed, architecture: Architecture) -> Board:
    """The board that was asked for, as many of it as were asked for.

    Raises:
        BadInput: there is no such board.
    """
    board = any_board(asked.board or architecture.board)
    return board if asked.devices is None else replace(board, devices=asked.devices)


def costs_of(asked: Placed, architecture: Architecture, board: Board) -> str:
    """The unit costs that were asked for."""
    return asked.costs or ("paper" if board.name == architecture.board else "ours")


def linked(board: Board, link_gbs: float | None, latency: int | None) -> Board:
    """The board with links as they were asked for; None leaves what the board says.

    Args:
        link_gbs: of a link each way, 10^9 bits a second. latency: cycles.

    Raises:
        BadInput: it has no links, or the rate is below ``LEAST_GBS``.
    """
    if link_gbs is None and latency is None:
        return board
    if board.link is None:
        raise BadInput(f"board {board.name}: link is missing: no rate and no latency are allowed")
    link, sources = board.link, dict(board.sources)
    if link_gbs is not None:
        if link_gbs < LEAST_GBS:
            raise BadInput(f"{given('link_gbs', link_gbs)}: must be at least {LEAST_GBS}")
        link = replace(link, lanes=1, gbytes_s=link_gbs / 8)
        sources |= dict.fromkeys(
            ("link: lanes", "link: gbytes_s"), FigureSource("assumed", "as given")
        )
    if latency is not None:
        link = replace(link, latency_cycles=latency)
    return replace(board, link=link, sources=sources)
