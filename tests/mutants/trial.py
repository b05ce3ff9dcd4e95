"""Try one fault: plant it in a copy of the tree, and see whether a test fails."""

from __future__ import annotations

import fcntl
import os
import py_compile
import shutil
import signal
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from dataclasses import dataclass
from itertools import count, islice
from multiprocessing import get_context
from pathlib import Path
from typing import Any, TypeVar

from forked import prepare, run_tests

T = TypeVar("T")
ROOT = Path(__file__).resolve().parents[2]
TREES = ROOT / "build" / "mutants"
FOLDERS = ("hdl", "models", "cosim", "testbenches", "tools")
READ = ("tests", "docs")
"""Other folders that tests read: some compare a page with what they measure."""
UNBUILT = ("AlwaysCombError", "AlwaysError", "BlockError", "ConversionError", "SyntaxError")
"""Errors by which MyHDL refuses a process before anything is simulated."""


@dataclass(frozen=True)
class Verdict:
    """What came of a fault.

    Attributes:
        name: ``killed``, ``unbuilt`` (no hardware can be made of it), ``survived``, ``timeout``
            (a test neither passed nor failed) or ``error`` (no test ran, or the one that failed
            fails without the fault, too).
        test, error: the last test, and the type of the exception that failed it; or that the
            budget was spent before all tests were run.
        seconds: that it took. passed: seconds of the processor of each test that passed.
    """

    name: str
    test: str
    error: str
    seconds: float
    passed: dict[str, float]


class Trial:
    """Tries faults in a copy of the tree, one after the other; a process has one of these.

    The copy stays where it is, as numba keeps what it compiled by the path of its source.
    """

    def __init__(self) -> None:
        """Copy the tree to the first place that no other process has."""
        for number in count():
            self._tree = TREES / str(number)
            self._tree.mkdir(parents=True, exist_ok=True)
            self._lock = (self._tree / "lock").open("w")
            try:
                fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                self._lock.close()
        _copy(self._tree)
        prepare(self._tree)
        self._sound: dict[str, bool] = {}

    def attempt(
        self,
        file: str,
        text: str,
        rounds: Sequence[Sequence[str]],
        known: dict[str, float],
        budget: float = float("inf"),
    ) -> Verdict:
        """Run rounds of tests with ``text`` in place of ``file``, to the first death.

        A round is the words that pytest gets. ``known`` are the seconds that tests take. What takes
        more seconds of the processor than ``budget`` survives.
        """
        path = self._tree / file
        aside = path.with_suffix(".own")
        path.rename(aside)
        start = time.monotonic()
        try:
            path.write_text(text)
            # What numba compiles of a fault is of no use to others, and with a fault of the models
            # it could compile anything.
            anew = Path(file).parts[0] == "models"
            compiled = self._tree / "compiled" if anew or "@compiled(" in text else None
            outcome = run_tests(rounds, known, budget, compiled, anew)
        finally:
            aside.replace(path)
            shutil.rmtree(self._tree / "compiled", ignore_errors=True)
        name = {"failed": "killed", "passed": "survived"}.get(outcome.status, outcome.status)
        error = outcome.error
        if error in UNBUILT:
            name = "unbuilt"
        elif name == "killed" and not self._is_sound(outcome.test):
            name, error = "error", f"fails without the fault, too: {error}"
        seconds = time.monotonic() - start
        return Verdict(name, outcome.test, error, seconds, outcome.seconds)

    def _is_sound(self, test: str) -> bool:
        """Whether a test passes in the tree as it is: else its failure shows nothing of a fault."""
        if test not in self._sound:
            outcome = run_tests([[test]], {}, float("inf"), None)
            self._sound[test] = (outcome.status, outcome.error) == ("passed", "")
        return self._sound[test]


def _copy(tree: Path) -> None:
    """Make ``tree`` a copy of the checkout; what did not change since the last time stays.

    Bytecode is compared with the source that it was made of, as a file that changes twice in a
    second has one time stamp.
    """
    for name in (*FOLDERS, *READ):
        sources = {path.relative_to(ROOT) for path in _files(ROOT / name)}
        for path in _files(tree / name):
            if path.relative_to(tree) not in sources:
                path.unlink()
        for source in sources:
            own, copy = ROOT / source, tree / source
            if copy.exists() and _stamp(own) == _stamp(copy):
                continue
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(own, copy)
            if copy.suffix == ".py":
                py_compile.compile(
                    str(copy), invalidation_mode=py_compile.PycInvalidationMode.CHECKED_HASH
                )
    shutil.copy(ROOT / "pyproject.toml", tree)
    package = tree / ".typing" / "merp"
    shutil.rmtree(package, ignore_errors=True)
    package.mkdir(parents=True)
    for name in FOLDERS:
        (package / name).symlink_to(tree / name)
    (package / "__init__.py").symlink_to(tree / "tools" / "front" / "__init__.py")


def _files(folder: Path) -> Iterator[Path]:
    for path in folder.rglob("*"):
        if path.is_file() and "__pycache__" not in path.parts:
            yield path


def _stamp(path: Path) -> tuple[int, int]:
    status = path.stat()
    return status.st_mtime_ns, status.st_size


_trial: Trial
_parent: int


def _begin() -> None:
    global _trial, _parent
    _trial, _parent = Trial(), os.getppid()


def _attempt(*words: Any) -> Verdict:
    verdict = _trial.attempt(*words)
    if os.getppid() != _parent:
        os._exit(1)  # nobody listens any more, and nobody would end this process
    return verdict


class Trials:
    """Tries faults in ``jobs`` processes; a context."""

    def __init__(self, jobs: int) -> None:
        """Begin the processes."""
        self._jobs = jobs
        self._pool = ProcessPoolExecutor(jobs, get_context("spawn"), _begin)

    def __enter__(self) -> Trials:
        """Itself; what asks the process to end lets trials end first."""
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
        return self

    def __exit__(self, *_: object) -> None:
        """End the processes after what they are at."""
        self._pool.shutdown(cancel_futures=True)

    def verdicts(self, tasks: Iterable[tuple[T, tuple[Any, ...]]]) -> Iterator[tuple[T, Verdict]]:
        """The verdict of each task, as they come: what it is, and the words of ``Trial.attempt``.

        A task is taken when a process is free for it.
        """
        going: dict[Future[Verdict], T] = {}
        more = iter(tasks)
        while True:
            for what, words in islice(more, self._jobs - len(going)):
                going[self._pool.submit(_attempt, *words)] = what
            if not going:
                return
            for future in wait(going, return_when=FIRST_COMPLETED).done:
                yield going.pop(future), future.result()
