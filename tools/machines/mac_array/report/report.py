"""The report of the MAC array."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from merp.models.base.errors import BadInput
from merp.models.fpga.board import Board
from merp.models.network.network import Network
from merp.models.network.network_keys import COMBINED
from merp.tools.common.boards import any_board
from merp.tools.machines.mac_array.report.measured import read_array_records
from merp.tools.report.choice import ReportChoice
from merp.tools.report.reports import Report


def _choice(network: Network, batch: int, board: Board, records: Sequence[Path]) -> ReportChoice:
    if network.backward == COMBINED:
        raise BadInput(f"--backward {COMBINED}: {network.name}: allowed with architecture cnn-merp")
    return ReportChoice(
        network=network,
        batch=batch,
        board=board,
        measured=read_array_records(records, network),
    )


def _document(choice: ReportChoice, beside: Path) -> dict[str, Any]:
    # late, as in CNN-MERP's
    from merp.tools.machines.mac_array.report.document import array_document

    return array_document(choice, beside)


REPORT = Report(
    board="stratix10-devkit", opened=any_board, records=read_array_records, choice=_choice,
    document=_document,
)  # fmt: skip
