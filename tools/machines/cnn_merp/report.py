"""The report of CNN-MERP."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from merp.models.cnn_merp.one_pass import check_backward
from merp.models.fpga.board import Board
from merp.models.network.network import Network
from merp.tools.common.boards import PAPER, open_board
from merp.tools.report.choice import Choice
from merp.tools.report.measured import read_records
from merp.tools.report.reports import Report
from merp.tools.report.tiles import FILE, read_tiles


def _choice(network: Network, batch: int, board: Board, records: Sequence[Path]) -> Choice:
    check_backward(network)
    boards = [each for each in records if (each / FILE).is_file()]
    return Choice(
        network=network,
        batch=batch,
        board=board,
        measured=read_records([each for each in records if each not in boards], network),
        tiles=read_tiles(boards, network),
    )


def _document(choice: Choice, beside: Path) -> dict[str, Any]:
    from merp.tools.report.document import document  # matplotlib waits until the input is good

    return document(choice, beside)


REPORT = Report(
    board=PAPER, opened=open_board, records=read_records, choice=_choice, document=_document
)
