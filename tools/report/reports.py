"""The parts of a report that each machine provides."""

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
        board: name of its default board.
        opened: returns a board by its name.
        records: returns the records of simulations in folders, for a network.
        choice: returns the request, from network, batch, board and folders of records.
        document: returns the page as JSON, with links relative to a folder.
    """

    board: str
    opened: Callable[[str], Board]
    records: Callable[[Sequence[Path], Network], list[Measurement]]
    choice: Callable[[Network, int, Board, Sequence[Path]], ReportChoice]
    document: Callable[[Any, Path], dict[str, Any]]


def report_of(network: Network) -> Report:
    """Return the report of the machine of a network."""
    found: Report = part_for(network, "report")
    return found
