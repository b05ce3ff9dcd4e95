"""The board of an architecture, for ``merp map``, ``cluster`` and ``sweep``."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Protocol

from merp.models.base.errors import BadInput
from merp.models.base.given import given, mention
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
        """Name or file of the board; None for the paper's."""

    @property
    def devices(self) -> int | None:
        """Number of boards; None as in the board's file."""

    @property
    def costs(self) -> str | None:
        """Unit costs."""


def place_board(**more: Any) -> Any:
    """Declare ``--board``."""
    says = "a board's name or a TOML file (default: the paper's)"
    return option(Named(), says, "--board", metavar="BOARD", **more)


def place_devices(**more: Any) -> Any:
    """Declare ``--devices``."""
    kind, says = WholeOption(1, MOST_DEVICES), "number of boards (default: as in the board's file)"
    return option(kind, says, "--devices", metavar="N", **more)


def place_costs(**more: Any) -> Any:
    """Declare ``--costs``."""
    says = "unit costs (default: paper on the paper's own board, else ours)"
    return option(OneOf(("paper", "ours")), says, "--costs", **more)


def board_of(asked: Placed, architecture: Architecture) -> Board:
    """Return the requested board, with the requested number of devices.

    Raises:
        BadInput: there is no such board.
    """
    board = any_board(asked.board or architecture.board)
    return board if asked.devices is None else replace(board, devices=asked.devices)


def costs_of(asked: Placed, architecture: Architecture, board: Board) -> str:
    """Return the requested unit costs.

    Raises:
        BadInput: they are ours, which are not of the board's family.
    """
    costs = asked.costs or ("paper" if board.name == architecture.board else "ours")
    if costs == "ours" and not board.part.planned:
        raise BadInput(
            f"{mention('board', board.name)}: {board.part.name}: our unit costs are of FPGAs of "
            "AMD: allowed is a board with such a part"
        )
    return costs


def linked(board: Board, link_gbs: float | None, latency: int | None) -> Board:
    """Return the board with the requested links; None keeps the value of the board.

    Args:
        board: the board.
        link_gbs: rate of a link each way, 10^9 bits per second.
        latency: latency of a link in cycles.

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
