"""``merp boards``: list the known boards, with the source of each figure."""

from __future__ import annotations

from dataclasses import dataclass

from merp.tools.common import fields
from merp.tools.common.boards import any_board, shipped_boards
from merp.tools.common.kinds import Text
from merp.tools.common.request import option
from merp.tools.comparison.boards import board_answer, print_board, print_boards


@dataclass(frozen=True, kw_only=True)
class BoardsOptions(fields.Tables):
    """The options of the verb."""

    board: str | None = option(Text(), "name of a shipped board, or a TOML file", "BOARD")


REQUEST = BoardsOptions


def run(asked: BoardsOptions) -> int:
    """Print boards."""
    if asked.board is None:
        return fields.answered(
            asked,
            {"boards": [board_answer(x) for x in shipped_boards()]},
            lambda: print_boards(shipped_boards()),
        )
    board = any_board(asked.board)
    return fields.answered(asked, board_answer(board), lambda: print_board(board))
