"""Where an architecture is to run, as ``merp map``, ``cluster`` and ``sweep`` ask for it."""

from __future__ import annotations

import argparse
from dataclasses import replace

from merp.models.base.errors import BadInput
from merp.models.base.given import given
from merp.models.comparison.architecture import Architecture
from merp.models.fpga.board import Board, Source
from merp.tools.common.arguments import whole
from merp.tools.common.boards import any_board

MOST_DEVICES = 1024
LEAST_GBS = 0.001


def add_place(parser: argparse.ArgumentParser) -> None:
    """Add ``--board``, ``--devices`` and ``--costs``."""
    parser.add_argument(
        "--board", metavar="BOARD", help="a board's name or a TOML file (default: the paper's)"
    )
    parser.add_argument(
        "--devices",
        type=whole(1, MOST_DEVICES),
        metavar="N",
        help="boards (default: as the board's file)",
    )
    parser.add_argument(
        "--costs",
        choices=("paper", "ours"),
        help="unit costs (default: paper on the paper's own board, else ours)",
    )


def board_of(args: argparse.Namespace, architecture: Architecture) -> Board:
    """The board that was asked for, as many of it as were asked for.

    Raises:
        BadInput: there is no such board.
    """
    board = any_board(args.board or architecture.board)
    return board if args.devices is None else replace(board, devices=args.devices)


def costs_of(args: argparse.Namespace, architecture: Architecture, board: Board) -> str:
    """The unit costs that were asked for."""
    return args.costs or ("paper" if board.name == architecture.board else "ours")


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
        sources |= dict.fromkeys(("link: lanes", "link: gbytes_s"), Source("assumed", "as given"))
    if latency is not None:
        link = replace(link, latency_cycles=latency)
    return replace(board, link=link, sources=sources)
