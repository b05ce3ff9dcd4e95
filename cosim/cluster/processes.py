"""A process of this machine for every board, reached through a socket."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from multiprocessing import Pipe
from weakref import finalize

from merp.cosim.cluster.board_task import Task, Told
from merp.cosim.cluster.peers import Peer
from merp.cosim.engines.record import Record
from merp.models.errors import CheckFailed
from merp.testbenches.top.border import Come

PROGRAM = "merp.cosim.cluster.board_process"
PATIENCE = 10  # seconds


class Processes:
    """Processes that play boards, from the first run to the end of this object; none is left over.

    They stay, as what an engine has built of a board is the process's.
    """

    def __init__(self) -> None:
        self._boards: list[_Board] = []
        finalize(self, _end, self._boards)

    @contextmanager
    def that_end_if_it_fails(self, boards: int) -> Iterator[Sequence[Peer]]:
        """A process for each board."""
        try:
            while len(self._boards) < boards:
                self._boards.append(_Board(len(self._boards)))
            yield self._boards
        except BaseException:
            _end(self._boards)
            raise


class _Board:
    """A board's process.

    It is in a group of its own, so that an interrupt from the keyboard strikes the caller alone.
    """

    def __init__(self, place: int) -> None:
        self._place = place
        self._connection, theirs = Pipe()
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", PROGRAM, str(theirs.fileno())],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
                process_group=0,
            )

    def end(self) -> None:
        """An interrupt, so that what it builds is put away; it strikes all that it started."""
        self._connection.close()
        if self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGINT)
        try:
            self._process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()

    def send(self, message: Task | Come) -> None:
        try:
            self._connection.send(message)
        except ConnectionError as error:
            raise self._ended() from error

    def recv(self) -> Told | Record | Exception:
        try:
            message: Told | Record | Exception = self._connection.recv()
        except (EOFError, ConnectionError) as error:
            raise self._ended() from error
        return message

    def _ended(self) -> CheckFailed:
        status = self._process.wait()
        how = f"by signal {-status}" if status < 0 else f"with status {status}"
        return CheckFailed(f"the process of node {self._place} ended {how} before its time")


def _end(boards: list[_Board]) -> None:
    while boards:
        boards.pop().end()
