"""Start all other programs. A started program ends with this process, however this process ends.

    done = run(["yosys", "-q", script], cwd=folder)        # one program, to its end

    with Children() as children:                           # several, or one to talk to
        process = children.start(command, stdin=PIPE, stdout=PIPE)

Each ``Children`` is a process group. All descendants of the programs join it, for example a
compiler that make starts. The whole group ends when the context ends.

The first member of a group is a keeper, a shell that waits on a pipe. Only this process holds the
other end. The kernel closes that end when this process dies, also by SIGKILL. The keeper then ends
the group. No code here depends on threads, and no code runs between fork and exec.
"""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Sequence
from contextlib import nullcontext, suppress
from multiprocessing import active_children
from multiprocessing.process import BaseProcess
from subprocess import CompletedProcess, Popen, TimeoutExpired
from threading import Lock, local
from time import monotonic, sleep
from types import TracebackType
from typing import Any
from weakref import WeakSet

from merp.cosim.engines.programs.pulse import Watched

GRACE_SECONDS = 2
"""Seconds from SIGTERM, after which a program may clean up, to SIGKILL."""

_KEEPER = f"trap '' HUP INT TERM; read -r _; kill -TERM 0; sleep {GRACE_SECONDS}; kill -KILL 0"
_TRIES, _PAUSE = 50, 0.01  # seconds, until killed processes are gone

_open: WeakSet[Children] = WeakSet()
_of_thread = local()


class Children:
    """Processes that end with this context or with this process.

    Attributes:
        group: number of their process group, for ``join``.
    """

    def __init__(self) -> None:
        self._started: list[Popen[Any]] = []
        self._starting = Lock()
        self._ended = False
        ours, self._held = os.pipe()
        try:
            self._keeper = Popen(
                ["/bin/sh", "-c", _KEEPER], cwd="/", process_group=0, stdin=ours,
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            )  # fmt: skip
        except BaseException:
            os.close(self._held)
            raise
        finally:
            os.close(ours)
        self.group = self._keeper.pid
        _open.add(self)

    def __enter__(self) -> Children:
        """Return this object; the group already exists."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End all processes."""
        self.end()

    def start(self, command: Sequence[str], **options: Any) -> Popen[Any]:
        """Start a program. It has no standard input, unless ``options`` specify one.

        Args:
            command: the program and its arguments.
            options: of ``subprocess.Popen``.

        Raises:
            OSError: the program cannot be started.
            RuntimeError: another thread has ended the group.
        """
        given = {"stdin": subprocess.DEVNULL} | options
        with self._starting:
            if self._ended:
                raise RuntimeError(f"{command[0]}: not started: its group has ended")
            process = Popen(command, process_group=self.group, **given)
            self._started.append(process)
        return process

    def call(self, command: Sequence[str], **options: Any) -> int:
        """Start a program as ``start`` does, wait for its end, and return its exit status.

        Raises:
            CheckFailed: the program made no progress.
        """
        process = self.start(command, **options)
        with Watched(process):
            return process.wait()

    def end(self, grace: float = GRACE_SECONDS) -> None:
        """End all remaining programs and their descendants; none is left afterwards.

        If a program still runs, all get SIGTERM first. Programs that still run after ``grace``
        seconds get SIGKILL.
        """
        with self._starting:
            if self._ended:
                return
            self._ended = True
        try:
            workers = self._workers()
            if workers or any(process.poll() is None for process in self._started):
                self._strike(signal.SIGTERM)
                self._strike(signal.SIGCONT)  # a stopped program must clean up, too
                self._await(workers, grace)
        finally:
            self._strike(signal.SIGKILL)
            self._let_go()
            for process in (*self._started, self._keeper):
                with suppress(OSError), process:  # closes its only remaining pipe
                    process.wait()
            self._vanish()

    def _workers(self) -> list[BaseProcess]:
        """The ``multiprocessing`` processes that have joined."""
        found = []
        for worker in active_children():
            with suppress(ProcessLookupError):
                if worker.pid is not None and os.getpgid(worker.pid) == self.group:
                    found.append(worker)
        return found

    def _await(self, workers: Sequence[BaseProcess], grace: float) -> None:
        until = monotonic() + grace
        for worker in workers:
            worker.join(max(0.0, until - monotonic()))
        with suppress(TimeoutExpired):
            for process in self._started:
                process.wait(max(0.0, until - monotonic()))

    def _strike(self, number: int) -> None:
        # none is left; on macOS only zombies are left
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.group, number)

    def _vanish(self) -> None:
        """Wait for processes that others reap: each may write to a folder until it is gone."""
        with suppress(ProcessLookupError, PermissionError):
            for _ in range(_TRIES):
                os.killpg(self.group, 0)
                sleep(_PAUSE)

    def _let_go(self) -> None:
        _open.discard(self)
        os.close(self._held)

    def _forget(self) -> None:
        """Forget the group in a copy of this process, which must neither end nor keep it."""
        self._ended = True
        self._let_go()


def run(command: Sequence[str], **options: Any) -> CompletedProcess[str]:
    """Run a program to its end, with ``options`` of ``Popen``. Return its status and its output.

    Raises:
        OSError: the program cannot be started.
        CheckFailed: the program made no progress.
    """
    piped = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    group: Children | None = getattr(_of_thread, "group", None)
    with Children() if group is None else nullcontext(group) as children:
        process = children.start(command, errors="replace", **piped, **options)
        with Watched(process):
            printed, said = process.communicate()
        return CompletedProcess(process.args, process.returncode, printed, said)


def start_in(children: Children) -> None:
    """Make ``run`` in this thread start its programs in a group, and thus end with the group."""
    _of_thread.group = children


def join(group: int) -> None:
    """Let this process, started by ``multiprocessing``, join a group of its parent.

    Call it first in the process. If the parent is already dead, the process ends here.
    """
    os.setpgid(0, group)


def _forget() -> None:
    """Close the pipes in a forked copy of this process; only the original may hold them.

    Otherwise a group would live as long as the copy.
    """
    for children in list(_open):
        children._forget()


os.register_at_fork(after_in_child=_forget)
