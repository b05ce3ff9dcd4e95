"""Peers that simulate the boards of a chain for the caller, over any kind of connection."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Protocol

from merp.cosim.engines.record import RunRecord
from merp.cosim.machines.cnn_merp.chain.board_task import BoardTask, WindowReport
from merp.testbenches.top.border import Come


class Peer(Protocol):
    """A peer that runs a board.

    It receives a task, then exchanges messages, and returns the record.
    """

    def send(self, message: BoardTask | Come) -> None:
        """Send a message.

        Raises:
            CheckFailed: the peer has ended.
        """

    def recv(self) -> WindowReport | RunRecord | Exception:
        """Return the next message: at the end of a window or of the run, or an exception.

        Raises:
            CheckFailed: the peer has ended.
        """


class Peers(Protocol):
    """Peers that persist from run to run."""

    def that_end_if_it_fails(self, boards: int) -> AbstractContextManager[Sequence[Peer]]:
        """Yield a peer for each of the boards. An exception in the context ends all peers.

        Raises:
            BadInput: there are too few peers.
        """
