"""Every start of another program: what is started ends with this process, however that ends.

    done = run(["yosys", "-q", script], cwd=folder)        # one program, to its end

    with Children() as children:                           # several, or one that is talked to
        process = children.start(command, stdin=PIPE, stdout=PIPE)

Each ``Children`` is a process group. Whatever the programs start themselves joins it, as a compiler
that make starts does. The group ends as a whole when the context ends.

The first member of a group is a keeper, a shell that waits on a pipe. This process alone holds the
other end. The kernel closes that end when this process dies, also by SIGKILL. The keeper then ends
the group. Nothing here depends on threads, and no code runs between fork and exec.
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
"""From SIGTERM, upon which a program may clean up, to SIGKILL."""

_KEEPER = f"trap '' HUP INT TERM; read -r _; kill -TERM 0; sleep {GRACE_SECONDS}; kill -KILL 0"
_TRIES, _PAUSE = 50, 0.01  # seconds, for what SIGKILL has struck to be gone

_open: WeakSet[Children] = WeakSet()
_of_thread = local()


class Children:
    """Processes that end when this context does, or when this process does.

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
        """There is nothing to do: the group is there."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End all of them."""
        self.end()

    def start(self, command: Sequence[str], **options: Any) -> Popen[Any]:
        """Start a program; it reads nothing, unless ``options`` give it a standard input.

        Args:
            command: the program and its arguments. options: of ``subprocess.Popen``.

        Raises:
            OSError: it cannot be started.
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
        """Start a program as ``start`` does, and return its status when it has ended.

        Raises:
            CheckFailed: it stood still.
        """
        process = self.start(command, **options)
        with Watched(process):
            return process.wait()

    def end(self, grace: float = GRACE_SECONDS) -> None:
        """End all that are left, and whatever they have started; none is left then.

        SIGTERM comes first if one of them still runs. Those that it has not ended after ``grace``
        seconds end by SIGKILL.
        """
        with self._starting:
            if self._ended:
                return
            self._ended = True
        try:
            workers = self._workers()
            if workers or any(process.poll() is None for process in self._started):
                self._strike(signal.SIGTERM)
                self._strike(signal.SIGCONT)  # one that is stopped cleans up, too
                self._await(workers, grace)
        finally:
            self._strike(signal.SIGKILL)
            self._let_go()
            for process in (*self._started, self._keeper):
                with suppress(OSError), process:  # closes its pipes, of which it has left one
                    process.wait()
            self._vanish()

    def _workers(self) -> list[BaseProcess]:
        """Those that have joined."""
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
        with suppress(ProcessLookupError, PermissionError):  # none is left; on macOS, but zombies
            os.killpg(self.group, number)

    def _vanish(self) -> None:
        """Wait for what others reap: it may write to a folder until it is gone."""
        with suppress(ProcessLookupError, PermissionError):
            for _ in range(_TRIES):
                os.killpg(self.group, 0)
                sleep(_PAUSE)

    def _let_go(self) -> None:
        _open.discard(self)
        os.close(self._held)

    def _forget(self) -> None:
        """In a copy of this process: the group is not the copy's to end or to keep."""
        self._ended = True
        self._let_go()


def run(command: Sequence[str], **options: Any) -> CompletedProcess[str]:
    """Run a program to its end, with ``options`` of ``Popen``: its status, and what it printed.

    Raises:
        OSError: it cannot be started.
        CheckFailed: it stood still.
    """
    piped = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    group: Children | None = getattr(_of_thread, "group", None)
    with Children() if group is None else nullcontext(group) as children:
        process = children.start(command, errors="replace", **piped, **options)
        with Watched(process):
            printed, said = process.communicate()
        return CompletedProcess(process.args, process.returncode, printed, said)


def start_in(children: Children) -> None:
    """Have ``run`` in this thread start its programs in a group, so that its end ends them."""
    _of_thread.group = children


def join(group: int) -> None:
    """Make this process one of a group of its parent's; for those that ``multiprocessing`` starts.

    Call it first in the process: one that began before its parent's death ends with it from here.
    """
    os.setpgid(0, group)


def _forget() -> None:
    """A copy of this process, made by fork, lets go of the pipes that only the original may hold.

    Else a group would live on as long as the copy does.
    """
    for children in list(_open):
        children._forget()


os.register_at_fork(after_in_child=_forget)
