"""Those who simulate the boards of a chain apart from the caller, however they are reached."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Protocol

from merp.cosim.engines.record import RunRecord
from merp.cosim.machines.cnn_merp.chain.board_task import BoardTask, WindowReport
from merp.testbenches.top.border import Come


class Peer(Protocol):
    """One who plays a board: gets a task, and then in turn is told and tells, to the record."""

    def send(self, message: BoardTask | Come) -> None:
        """Raises: CheckFailed: the peer has ended."""

    def recv(self) -> WindowReport | RunRecord | Exception:
        """What it says next: at the end of a window, of the run, or when something was raised.

        Raises:
            CheckFailed: the peer has ended.
        """


class Peers(Protocol):
    """Peers that stay from run to run."""

    def that_end_if_it_fails(self, boards: int) -> AbstractContextManager[Sequence[Peer]]:
        """One for each of so many boards; what is raised while they are held ends all.

        Raises:
            BadInput: there are not as many.
        """
