"""A real process, forked from one that has imported everything, and ended at a chosen moment.

A moment is a time, or the number of a change to the file system, at which the process sends itself
the signal: so moments between two renames, which follow each other in microseconds, are hit too.
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
"""Begins a line on how far long work is, which is no complaint."""


def complaints_of(said: str) -> str:
    """Of what was said on standard error, all but progress."""
    return "".join(line for line in said.splitlines(True) if not _PROGRESS.match(line))


@dataclass(frozen=True)
class Ended:
    """How a process ended.

    Attributes:
        status: of its exit; None: it was killed, or never ended.
        said: what it complained of on standard error.
        changes: seconds since its start and kind of each change, of one that was to note them.
    """

    status: int | None
    said: str
    seconds: float
    changes: tuple[Change, ...] = ()

    def __post_init__(self) -> None:
        """Leave progress out."""
        object.__setattr__(self, "said", complaints_of(self.said))


def command(words: list[str]) -> Callable[[], int]:
    """What runs a command line in a child."""
    return lambda: main(words)


class Child:
    """A process that runs ``work`` in a folder.

    Args:
        work: returns the exit status.
        folder: where it runs. said: path of its standard error, which no two share.
        dies_at: number of the change, from 0, before which the signal comes.
        signal_: that comes, SIGKILL or one that the process cleans up after.
        notes: whether it tells its changes.
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
        """Send the signal so many seconds after its start, unless it has ended."""
        self.wait_for(after)
        os.kill(self.pid, self._signal)

    def wait_for(self, seconds: float) -> None:
        """Return so many seconds after its start, or when it has ended."""
        self._ended_by(self._began + seconds)

    def wait(self) -> Ended:
        """How it ended."""
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
    """What the child does."""
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
    """Count changes to the file system from now on; the signal comes before one of them."""
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
    """Whether a file is opened to be written, or anything of a draft to be read or synced."""
    return bool(flags & _WRITING) or (isinstance(path, str | os.PathLike) and SUFFIX in str(path))


def complaints(ended: Ended, what: str) -> list[str]:
    """What is wrong with how a process ended that should have done all, and said nothing."""
    if (ended.status, ended.said) == (0, ""):
        return []
    return [f"{what}: status {ended.status}: {ended.said.strip()[:300]}"]
