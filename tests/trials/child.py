"""Run a real process, forked from one that has imported everything, and end it at a chosen moment.

A moment is a time, or the number of a change to the file system before which the process sends
itself the signal. Therefore the trials also hit moments between two renames, which follow each
other in microseconds.
"""

import json
import os
import re
import select
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from merp.tools.cli import main
from merp.tools.common.stage import SUFFIX

PATIENCE = 300.0  # seconds, before a process counts as one that never ends

Plant = Callable[[], None]
Change = tuple[float, str]

_CHANGES = ("os.mkdir", "os.rename", "os.remove", "os.rmdir")
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT


_PROGRESS = re.compile(r"merp [a-z-]+: ")
"""Prefix of a progress line of long work, which is not a complaint."""


def complaints_of(said: str) -> str:
    """Return the text on standard error, without progress."""
    return "".join(line for line in said.splitlines(True) if not _PROGRESS.match(line))


@dataclass(frozen=True)
class Ended:
    """The end of a process.

    Attributes:
        status: its exit status; None if it was killed, or never ended.
        said: its complaints on standard error.
        changes: seconds since its start and kind of each change, if it was to note them.
    """

    status: int | None
    said: str
    seconds: float
    changes: tuple[Change, ...] = ()

    def __post_init__(self) -> None:
        """Remove progress."""
        object.__setattr__(self, "said", complaints_of(self.said))


def command(words: list[str]) -> Callable[[], int]:
    """Return a function that runs a command line in a child."""
    return lambda: main(words)


class Child:
    """A process that runs ``work`` in a folder.

    Args:
        work: returns the exit status.
        folder: where it runs.
        said: path of its standard error, which no two share.
        dies_at: number of the change, from 0, before which it gets the signal.
        signal_: the signal, SIGKILL or one after which the process cleans up.
        notes: whether it notes its changes.
        plant: called first in it.
    """

    def __init__(
        self, work: Callable[[], int], folder: Path, said: Path, *, dies_at: int | None = None,
        signal_: int = signal.SIGKILL, notes: bool = False, plant: Plant | None = None,
    ) -> None:  # fmt: skip
        threads = os.listdir("/proc/self/task")
        if len(threads) > 1:
            raise RuntimeError(f"{len(threads)} threads: only a process of one can be forked")
        self._said = said
        self._signal = signal_
        self._noted = said.with_suffix(".changes") if notes else None
        self._began = time.monotonic()
        self.pid = os.fork()
        if not self.pid:
            status = 99  # of an error of the trial itself
            try:
                status = _run(work, folder, said, dies_at, signal_, self._noted, plant)
            finally:
                os._exit(status)
        self._end = os.pidfd_open(self.pid)

    def kill(self, after: float) -> None:
        """Send the signal ``after`` seconds from its start, unless it has ended."""
        self.wait_for(after)
        os.kill(self.pid, self._signal)

    def wait_for(self, seconds: float) -> None:
        """Return ``seconds`` after its start, or when it has ended."""
        self._ended_by(self._began + seconds)

    def wait(self) -> Ended:
        """Wait for its end and return it."""
        if not self._ended_by(time.monotonic() + PATIENCE):
            os.kill(self.pid, signal.SIGKILL)
        os.close(self._end)
        status = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        changes: tuple[Change, ...] = ()
        if self._noted is not None and self._noted.exists():
            changes = tuple((at, kind) for at, kind in json.loads(self._noted.read_text()))
        return Ended(
            None if status == -signal.SIGKILL else abs(status),
            self._said.read_text() if self._said.exists() else "",
            time.monotonic() - self._began,
            changes,
        )

    def _ended_by(self, moment: float) -> bool:
        poll = select.poll()
        poll.register(self._end, select.POLLIN)
        return bool(poll.poll(max(0.0, moment - time.monotonic()) * 1000))


def _run(
    work: Callable[[], int], folder: Path, said: Path, dies_at: int | None, signal_: int,
    noted: Path | None, plant: Plant | None,
) -> int:  # fmt: skip
    """Do the work of the child."""
    os.chdir(folder)
    null = os.open(os.devnull, os.O_WRONLY)
    errors = os.open(said, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    os.dup2(null, 1)
    os.dup2(errors, 2)
    sys.stdout, sys.stderr = (
        open(descriptor, "w", encoding="utf-8", closefd=False) for descriptor in (1, 2)
    )
    if plant is not None:
        plant()
    changes = _watched(dies_at, signal_)
    try:
        status = work()
    except SystemExit as stop:
        status = stop.code if isinstance(stop.code, int) else 1
    sys.stderr.flush()
    if noted is not None:
        noted.write_text(json.dumps(list(changes)))
    return status


def _watched(dies_at: int | None, signal_: int) -> list[Change]:
    """Count changes to the file system from now on; send the signal before one of them."""
    changes: list[Change] = []
    began = time.monotonic()

    def watch(event: str, args: tuple[Any, ...]) -> None:
        if not (event in _CHANGES or (event == "open" and _counts(*args))):
            return
        if len(changes) == dies_at:
            os.kill(os.getpid(), signal_)
        changes.append((time.monotonic() - began, event))

    sys.addaudithook(watch)
    return changes


def _counts(path: object, mode: object, flags: int) -> bool:
    """Return whether a file is opened for writing, or a draft for reading or syncing."""
    return bool(flags & _WRITING) or (isinstance(path, str | os.PathLike) and SUFFIX in str(path))


def complaints(ended: Ended, what: str) -> list[str]:
    """Return the faults at the end of a process that should have succeeded silently."""
    if (ended.status, ended.said) == (0, ""):
        return []
    return [f"{what}: status {ended.status}: {ended.said.strip()[:300]}"]
