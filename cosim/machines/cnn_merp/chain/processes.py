"""One process of this machine per board, connected through a socket without an address."""

from __future__ import annotations

import socket
import struct
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from multiprocessing import Pipe
from typing import Any
from weakref import finalize

from merp.cosim.engines.programs.children import Children
from merp.cosim.engines.record import RunRecord
from merp.cosim.machines.cnn_merp.chain.beats import ALIVE, silent
from merp.cosim.machines.cnn_merp.chain.board_task import BoardTask, WindowReport
from merp.cosim.machines.cnn_merp.chain.peers import Peer
from merp.models.base.errors import CheckFailed
from merp.models.machines.cnn_merp.chain.machine import PATIENCE
from merp.testbenches.top.border import Come

PROGRAM = "merp.cosim.machines.cnn_merp.chain.board_process"
END_SECONDS = 10
"""Seconds in which a board may remove its builds."""
LOOK_SECONDS = 1


class BoardProcesses:
    """Processes that run boards, from the first run until this object is closed; none is left over.

    They persist because each process holds the engine's builds of its board. They end with this
    process, however it ends.

    Args:
        patience: seconds without a sign of life until a board counts as blocked.
    """

    def __init__(self, patience: float = PATIENCE) -> None:
        self._patience = patience
        self._boards: list[_Board] = []
        finalize(self, _end, self._boards)

    @contextmanager
    def that_end_if_it_fails(self, boards: int) -> Iterator[Sequence[Peer]]:
        """Yield a process for each board."""
        try:
            if not self._boards:
                children = Children()
                for place in range(boards):
                    self._boards.append(_Board(place, children, self._patience))
                for board in self._boards:
                    # wait until it is ready, because a task may exceed the buffer of a socket
                    board.recv()
            yield self._boards
        except BaseException:
            _end(self._boards)
            raise


class _Board:
    """A board's process.

    It is in a process group with the other boards. Therefore an interrupt from the keyboard reaches
    only the caller.
    """

    def __init__(self, place: int, children: Children, patience: float) -> None:
        self.children = children
        self._place = place
        self._patience = patience
        self._connection, theirs = Pipe()
        _limit(self._connection.fileno(), patience)
        with theirs:
            self._process = children.start(
                [sys.executable, "-P", "-m", PROGRAM, str(theirs.fileno())],
                stdout=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
            )

    def close(self) -> None:
        self._connection.close()

    def send(self, message: BoardTask | Come) -> None:
        self._spoken(lambda: self._connection.send(message))

    def recv(self) -> WindowReport | RunRecord | Exception:
        while (message := self._spoken(self._heard)) == ALIVE:
            pass
        found: WindowReport | RunRecord | Exception = message
        return found

    def _heard(self) -> Any:
        """Return the next message.

        Time in which this process was stopped itself counts as one look.
        """
        looks = 0
        while not self._connection.poll(LOOK_SECONDS):
            looks += 1
            if looks * LOOK_SECONDS >= self._patience:
                raise BlockingIOError
        return self._connection.recv()

    def _spoken(self, speak: Callable[[], Any]) -> Any:
        try:
            return speak()
        except BlockingIOError:
            who = f"its process {self._process.pid}"
            raise CheckFailed(silent(self._place, who, self._patience)) from None
        except (EOFError, ConnectionError) as error:
            status = self._process.wait()
            how = f"by signal {-status}" if status < 0 else f"with status {status}"
            raise CheckFailed(
                f"the process of node {self._place} ended {how} before its time"
            ) from error


def _limit(descriptor: int, seconds: float) -> None:
    """Let the kernel end a read or a write that is stuck in the middle of a message."""
    whole, part = divmod(round(seconds * 1_000_000), 1_000_000)
    with socket.fromfd(descriptor, socket.AF_UNIX, socket.SOCK_STREAM) as of:
        for option in (socket.SO_RCVTIMEO, socket.SO_SNDTIMEO):
            of.setsockopt(socket.SOL_SOCKET, option, struct.pack("@ll", whole, part))


def _end(boards: list[_Board]) -> None:
    """End all processes together.

    A stopped process continues, because it must remove its builds.
    """
    for board in boards:
        board.close()
    if boards:
        boards[0].children.end(END_SECONDS)
    boards.clear()
