"""The shipped boards, and how the command line finds a board."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from merp.models.base.errors import BadInput, shown
from merp.models.base.given import mention
from merp.models.base.toml_section import read_toml
from merp.models.fpga.board import Board
from merp.models.fpga.board_file import read_board
from merp.tools.common.data import DATA

BOARDS = DATA / "boards"

PAPER = "paper"
"""Name of the board of CNN-MERP."""


def shipped_boards() -> list[Board]:
    """Return all shipped boards, by name."""
    return [read_board(path) for path in sorted(BOARDS.glob("*.toml"))]


def board_names() -> list[str]:
    """Return the names of the shipped boards that a plan can use."""
    return [board.name for board in shipped_boards() if board.part.planned]


def open_board(name: str) -> Board:
    """Return the shipped board called ``name``, or the board of the TOML file ``name``.

    Raises:
        BadInput: neither exists, the file is wrong, or merp has no estimates for its part.
    """
    found = _open(name, board_names())
    if not found.part.planned:
        raise BadInput(
            f"{mention('board', shown(name))}: {found.part.name}: estimates are for FPGAs of AMD, "
            f"with RAMB36 blocks: allowed are {', '.join(board_names())}, or a .toml file with "
            "such a part"
        )
    return found


def board_tables(name: str) -> tuple[str, dict[str, Any]]:
    """Return the name of a board's file for messages, and its tables, as ``board_of`` takes them.

    Raises:
        BadInput: as for ``any_board``; tables are not checked.
    """
    path = BOARDS / f"{any_board(name).name}.toml"
    path = path if name == path.stem else Path(name)
    return path.name, read_toml(path)


def any_board(name: str) -> Board:
    """Return the board called ``name``, of any FPGA family.

    Raises:
        BadInput: as for ``open_board``, but every part is allowed.
    """
    return _open(name, [board.name for board in shipped_boards()])


def sized_names() -> list[str]:
    """Return the names of the shipped boards with a known size of their memory."""
    return [board.name for board in shipped_boards() if board.memory_mib is not None]


def sized_board(name: str) -> tuple[str, int]:
    """Return the name of the board called ``name``, of any FPGA family, and its memory's bytes.

    Raises:
        BadInput: as for ``any_board``, or the size of its memory is not known.
    """
    found = any_board(name)
    if found.memory_mib is None:
        raise BadInput(
            f"{mention('board', shown(name))}: the size of its memory is not known: allowed are "
            f"{', '.join(sized_names())}, or a .toml file with memory.mib"
        )
    return found.name, found.memory_mib << 20


def _open(name: str, allowed: Sequence[str]) -> Board:
    """Return the board called ``name``; messages about other names list the allowed ones."""
    boards = {board.name: board for board in shipped_boards()}
    if name in boards:
        return boards[name]
    if name.endswith(".toml") or "/" in name:
        return read_board(Path(name))
    hint = "".join(f"; did you mean {near}?" for near in get_close_matches(name, allowed, 1))
    raise BadInput(
        f"no board {shown(name)}: allowed are {', '.join(allowed)}, or a .toml file{hint}"
    )
