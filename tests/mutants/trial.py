"""Try one fault: plant it in a copy of the tree, and see whether a test fails."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from queue import SimpleQueue

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("hdl", "models", "cosim", "testbenches", "tools")
LIMIT = 900  # seconds of a test; running out of them shows nothing and does not count as killed


class Trees:
    """Copies of the tree, one for each of ``jobs`` threads.

    They stay where they are from fault to fault, as numba keeps what it compiled by the path of its
    source.
    """

    def __init__(self, home: Path, jobs: int) -> None:
        """Copy ``jobs`` trees into the folder ``home``."""
        self._free: SimpleQueue[Path] = SimpleQueue()
        for number in range(jobs):
            tree = home / f"tree{number}"
            for name in (*FOLDERS, "tests"):
                shutil.copytree(
                    ROOT / name, tree / name, ignore=shutil.ignore_patterns("__pycache__")
                )
            shutil.copy(ROOT / "pyproject.toml", tree)
            package = tree / ".typing" / "merp"
            package.mkdir(parents=True)
            for name in FOLDERS:
                (package / name).symlink_to(tree / name)
            self._free.put(tree)

    @contextmanager
    def _with(self, file: str, text: str) -> Iterator[Path]:
        """A tree in which ``file`` reads ``text``."""
        tree = self._free.get()
        path = tree / file
        own = path.read_text()
        try:
            path.write_text(text)
            yield tree
        finally:
            path.write_text(own)
            self._free.put(tree)

    def attempt(
        self, file: str, text: str, tests: Sequence[str], until: float = float("inf")
    ) -> tuple[str, float]:
        """Run ``tests`` one after the other with ``text`` in place of ``file``, to the first death.

        Returns ``killed``, ``survived``, ``timeout``, ``error`` or, if ``time.monotonic`` passed
        ``until`` before there was a verdict, ``unfinished``; and the seconds that it took.
        """
        with self._with(file, text) as tree:
            start = time.monotonic()
            verdict = "survived"
            for test in tests:
                verdict = _run(tree, test, until)
                if verdict != "survived":
                    break
        return verdict, time.monotonic() - start


def _run(tree: Path, test: str, until: float) -> str:
    environment = os.environ | {
        "PYTHONPATH": str(tree / ".typing"),
        "NUMBA_CACHE_DIR": str(tree / "numba"),
        "PYTHONDONTWRITEBYTECODE": "1",  # a file that changes twice in a second has one time stamp
    }
    left = until - time.monotonic()
    if left <= 0:
        return "unfinished"
    try:
        status = subprocess.run(
            [sys.executable, "-m", "pytest", "-x", "-q", "-m", "not full", *test.split()],
            cwd=tree,
            env=environment,
            capture_output=True,
            timeout=min(LIMIT, left),
            check=False,
        ).returncode
    except subprocess.TimeoutExpired:
        return "timeout" if left > LIMIT else "unfinished"
    # A test that does not collect or run has shown nothing.
    return {0: "survived", 1: "killed"}.get(status, "error")
