"""What a report is made of, whatever the machine."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from merp.cosim.machines.loader import part_for
from merp.models.fpga.board import Board
from merp.models.network.network import Network
from merp.tools.report.choice import ReportChoice
from merp.tools.report.measurement import Measurement


@dataclass(frozen=True, kw_only=True)
class Report:
    """The report of a machine.

    Attributes:
        board: that its figures are of unless another is named. opened: a board by its name.
        records: those of simulations in some folders, of a network.
        choice: what is asked for, of network, batch, board and folders of records.
        document: the page as JSON, its links relative to a folder.
    """

    board: str
    opened: Callable[[str], Board]
    records: Callable[[Sequence[Path], Network], list[Measurement]]
    choice: Callable[[Network, int, Board, Sequence[Path]], ReportChoice]
    document: Callable[[Any, Path], dict[str, Any]]


def report_of(network: Network) -> Report:
    """The report of the machine that a network is for."""
    found: Report = part_for(network, "report")
    return found
