"""Where an architecture is to run: the options that ``merp map`` and ``merp cluster`` share."""

from __future__ import annotations

import argparse
from dataclasses import replace

from merp.models.comparison.architecture import Architecture
from merp.models.fpga.board import Board
from merp.tools.common.arguments import whole
from merp.tools.common.boards import any_board

MOST_DEVICES = 1024


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
