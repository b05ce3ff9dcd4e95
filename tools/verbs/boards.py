"""``merp boards``: the boards that are known, and where each of their figures comes from."""

from __future__ import annotations

import argparse
import json

from merp.tools.common.arguments import add_tables
from merp.tools.common.boards import any_board, shipped_boards
from merp.tools.comparison.boards import board_answer, print_board, print_boards


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what the verb takes."""
    parser.add_argument(
        "board", metavar="BOARD", nargs="?", help="a shipped board's name or a TOML file"
    )
    add_tables(parser)


def run(args: argparse.Namespace) -> int:
    """Print boards."""
    if args.board is None:
        if args.json:
            print(json.dumps({"boards": [board_answer(x) for x in shipped_boards()]}, indent=2))
        else:
            print_boards(shipped_boards())
        return 0
    board = any_board(args.board)
    if args.json:
        print(json.dumps(board_answer(board), indent=2))
    else:
        print_board(board)
    return 0
