"""Detect whether a process of this machine runs, or is stopped or blocked permanently.

The kernel counts the processor time of each thread. A program that computes or polls, or whose
children do so, gets processor time again and again. A stopped program gets none. Therefore this
process does not wait for it forever. Time in which this process was stopped itself does not count.
"""

from __future__ import annotations

from pathlib import Path
from threading import Event, Thread
from typing import Any, Protocol

from merp.models.base.errors import CheckFailed

STILL_SECONDS = 60
"""Seconds without processor time until a program counts as blocked."""

LOOK_SECONDS = 1.0

Ran = dict[str, str]


def ran(pid: int) -> Ran:
    """Return the processor time of the threads of a process and its descendants.

    It is empty if unknown.
    """
    found: Ran = {}
    left = [str(pid)]
    while left:
        for thread in _threads(left.pop()):
            try:
                found[thread.name] = (thread / "schedstat").read_text()
                left += (thread / "children").read_text().split()
            except OSError:  # the process has ended
                continue
    return found


def _threads(pid: str) -> list[Path]:
    try:
        return list(Path("/proc", pid, "task").iterdir())
    except OSError:
        return []


class Pulse:
    """Signs of life of a process, at each call of ``is_still``.

    Attributes:
        pid: number of the process.
    """

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self._ran: Ran = {}
        self._looks = 0

    def is_still(self) -> bool:
        """Return whether the process has not run for ``STILL_SECONDS``.

        Call it every ``LOOK_SECONDS``.
        """
        now = ran(self.pid)
        self._looks = self._looks + 1 if now and now == self._ran else 0
        self._ran = now
        return self._looks * LOOK_SECONDS >= STILL_SECONDS

    def forget(self) -> None:
        """Restart the count, because the process had no work."""
        self._looks = 0


class Program(Protocol):
    """A program that was started by ``Children.start``."""

    args: Any
    pid: int
    returncode: Any

    def kill(self) -> None:
        """End the program."""


class Watched:
    """A program that is ended if it makes no progress while this process waits for it.

        watched = Watched(process)
        with watched:
            process.wait()

    Raises `CheckFailed` at the end of the context if the program was ended for this reason.
    """

    def __init__(self, process: Program) -> None:
        self._process = process
        self._waits = 0
        self._waiting = False
        self._still = False
        self._ended = Event()
        Thread(target=self._watch, daemon=True).start()

    def __enter__(self) -> Watched:
        """Begin to wait for the program."""
        self._waits += 1
        self._waiting = True
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        """Stop waiting, because the program has answered.

        Raises:
            CheckFailed: the program made no progress and was ended.
        """
        self._waiting = False
        if self._still:
            args: Any = self._process.args
            program = args if isinstance(args, str) else args[0]
            raise CheckFailed(
                f"{Path(program).name} made no progress: process {self._process.pid} got no "
                f"processor time for {STILL_SECONDS} s"
            ) from None

    def end(self) -> None:
        """Stop the observation."""
        self._ended.set()

    def _watch(self) -> None:
        pulse, waits = Pulse(self._process.pid), 0
        while not self._ended.wait(LOOK_SECONDS) and self._process.returncode is None:
            if not self._waiting or waits != self._waits:
                pulse.forget()
            waits = self._waits
            if pulse.is_still():
                self._still = True
                self._process.kill()
                return
