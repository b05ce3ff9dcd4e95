"""The report of CNN-MERP."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from merp.models.fpga.board import Board
from merp.models.machines.cnn_merp.one_pass import check_backward
from merp.models.network.network import Network
from merp.tools.common.boards import PAPER, open_board
from merp.tools.machines.cnn_merp.report.choice import PlannedChoice
from merp.tools.machines.cnn_merp.report.measured import read_records
from merp.tools.machines.cnn_merp.report.tiles import FILE, read_tiles
from merp.tools.report.reports import Report


def _choice(network: Network, batch: int, board: Board, records: Sequence[Path]) -> PlannedChoice:
    check_backward(network)
    boards = [each for each in records if (each / FILE).is_file()]
    return PlannedChoice(
        network=network,
        batch=batch,
        board=board,
        measured=read_records([each for each in records if each not in boards], network),
        tiles=read_tiles(boards, network),
    )


def _document(choice: PlannedChoice, beside: Path) -> dict[str, Any]:
    from merp.tools.machines.cnn_merp.report.document import (
        document,  # import matplotlib only after the input is checked
    )

    return document(choice, beside)


REPORT = Report(
    board=PAPER, opened=open_board, records=read_records, choice=_choice, document=_document
)
