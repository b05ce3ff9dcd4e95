"""The shipped boards, and how the command line finds a board."""

from __future__ import annotations

import argparse
from difflib import get_close_matches
from pathlib import Path

from merp.models.errors import BadInput, shown
from merp.models.fpga.board import Board
from merp.models.fpga.board_file import read_board
from merp.models.given import mention
from merp.tools.common.data import DATA

BOARDS = DATA / "boards"

PAPER = "paper"
"""The board of CNN-MERP."""


def board_names() -> list[str]:
    """Return the names of the shipped boards."""
    return sorted(path.stem for path in BOARDS.glob("*.toml"))


def open_board(name: str) -> Board:
    """Return the shipped board called ``name``, or that of the TOML file ``name``.

    Raises:
        BadInput: neither exists, or the file is wrong.
    """
    names = board_names()
    if name in names:
        return read_board(BOARDS / f"{name}.toml")
    if name.endswith(".toml") or "/" in name:
        return read_board(Path(name))
    hint = "".join(f"; did you mean {near}?" for near in get_close_matches(name, names, 1))
    raise BadInput(
        f"{mention('board', shown(name))}: allowed are {', '.join(names)}, or a .toml file{hint}"
    )


def add_board(parser: argparse.ArgumentParser, default: str | None = None) -> None:
    """Add ``--board``, which must be given where nothing is said of a ``default``."""
    shipped = f"a shipped board ({', '.join(board_names())}) or a TOML file"
    parser.add_argument(
        "--board",
        metavar="BOARD",
        required=default is None,
        help=shipped if default is None else f"{shipped} (default: {default})",
    )
