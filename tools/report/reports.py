"""Whose report is what: a row for each architecture."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from merp.models.architectures import computing_in
from merp.models.cnn_merp.one_pass import check_backward
from merp.models.errors import BadInput
from merp.models.fpga.board import Board
from merp.models.network.network import Network
from merp.models.network.network_keys import FUSED
from merp.tools.common.boards import PAPER, any_board, open_board
from merp.tools.report.array_measured import read_array_records
from merp.tools.report.choice import Choice
from merp.tools.report.measured import read_records
from merp.tools.report.measurement import Measurement
from merp.tools.report.tiles import FILE, read_tiles


@dataclass(frozen=True, kw_only=True)
class Report:
    """The report of an architecture.

    Attributes:
        board: that its figures are of unless another is named. opened: a board by its name.
        records: those of simulations in some folders, of a network.
        choice: what is asked for, of network, batch, board and folders of records.
        document: the page as JSON, its links relative to a folder.
    """

    board: str
    opened: Callable[[str], Board]
    records: Callable[[Sequence[Path], Network], list[Measurement]]
    choice: Callable[[Network, int, Board, Sequence[Path]], Choice]
    document: Callable[[Choice, Path], dict[str, Any]]


def _cnn_merp(network: Network, batch: int, board: Board, records: Sequence[Path]) -> Choice:
    check_backward(network)
    boards = [each for each in records if (each / FILE).is_file()]
    return Choice(
        network=network,
        batch=batch,
        board=board,
        measured=read_records([each for each in records if each not in boards], network),
        tiles=read_tiles(boards, network),
    )


def _mac_array(network: Network, batch: int, board: Board, records: Sequence[Path]) -> Choice:
    if network.backward == FUSED:
        raise BadInput(f"--backward {FUSED}: {network.name}: allowed with architecture cnn_merp")
    return Choice(
        network=network,
        batch=batch,
        board=board,
        measured=read_array_records(records, network),
    )


def _cnn_merp_page(choice: Choice, beside: Path) -> dict[str, Any]:
    from merp.tools.report.document import document  # matplotlib waits until the input is good

    return document(choice, beside)


def _mac_array_page(choice: Choice, beside: Path) -> dict[str, Any]:
    from merp.tools.report.array_document import array_document  # as above

    return array_document(choice, beside)


REPORTS: Final[Mapping[str, Report]] = {
    "cnn_merp": Report(
        board=PAPER,
        opened=open_board,
        records=read_records,
        choice=_cnn_merp,
        document=_cnn_merp_page,
    ),
    "mac_array": Report(
        board="stratix10-devkit",
        opened=any_board,
        records=read_array_records,
        choice=_mac_array,
        document=_mac_array_page,
    ),
}
"""By architecture."""


def report_of(network: Network) -> Report:
    """The report of a network's architecture."""
    return REPORTS[computing_in(network.numbers)]
