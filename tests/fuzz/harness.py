"""Run ``merp`` in this process on hostile input, and say what it did that it must not do.

A case is a kind and a number, and always the same: its number seeds all that is random in it.
"""

from __future__ import annotations

import io
import os
import resource
import signal
import sys
import tempfile
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from types import FrameType
from typing import Any

from merp.tools.cli import main

SECONDS = 60  # of the processor, before a case counts as one that never ends
MEMORY = 12 << 30  # bytes of addresses, so that an allocation without limit fails

WRITES = ("os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.link", "os.symlink", "os.truncate")
_written: list[str] | None = None


def _watch(event: str, args: tuple[Any, ...]) -> None:
    if _written is None:
        return
    if event == "open" and isinstance(args[0], str | bytes | os.PathLike):
        if args[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
            _written.append(os.fsdecode(args[0]))
    elif event in WRITES:
        names = [os.fsdecode(each) for each in args if isinstance(each, str | bytes)]
        folders = [None] if event == "os.truncate" else args[-len(names) :]
        _written.extend(map(_from_folder, names, folders))


def _from_folder(name: str, folder: object) -> str:
    """A path that may be told from an open folder: its descriptor, or -1."""
    if isinstance(folder, int) and folder >= 0:
        return os.path.join(os.readlink(f"/proc/self/fd/{folder}"), name)
    return name


sys.addaudithook(_watch)


class NeverEnds(BaseException):
    """A case took too long; no handler of the command line's stops this."""


def _stop(number: int, frame: FrameType | None) -> None:
    raise NeverEnds


@contextmanager
def sandbox() -> Iterator[Path]:
    """A folder to work in with ``in`` and ``out``; memory is limited meanwhile."""
    home, limits = Path.cwd(), resource.getrlimit(resource.RLIMIT_AS)
    handler = signal.signal(signal.SIGPROF, _stop)
    with tempfile.TemporaryDirectory(prefix="fuzz-") as folder:
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, limits[1]))
        os.chdir(folder)
        try:
            Path("in").mkdir()
            Path("out").mkdir()
            yield Path(folder)
        finally:
            os.chdir(home)
            resource.setrlimit(resource.RLIMIT_AS, limits)
            signal.signal(signal.SIGPROF, handler)


def faults(words: Sequence[str], allowed: Sequence[int] = (0, 2)) -> list[str]:
    """Run a command line in the sandbox; return what was wrong with the answer.

    allowed: statuses that the input can deserve.
    """
    global _written
    found = []
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for _ in range(2))
    written: list[str] = []
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("default")
        with redirect_stdout(out), redirect_stderr(err):
            signal.setitimer(signal.ITIMER_PROF, SECONDS)
            _written = written
            try:
                status: object = main(words)
            except SystemExit as stop:
                status = stop.code or 0
            except NeverEnds:
                status = f"nothing in {SECONDS} s"
            except BaseException as error:  # the very thing that is looked for
                status = repr(error)
            finally:
                _written = None
                signal.setitimer(signal.ITIMER_PROF, 0)
    err.flush()
    said = err.buffer.getvalue().decode("utf-8", "replace")  # type: ignore[attr-defined]
    if status not in allowed:
        found.append(f"status {status}: {said.strip()[:600]}")
    lines = said.count("\n")
    if lines != (1 if status == 2 else 0) and status in (0, 1, 2):
        found.append(f"status {status} with {lines} lines of complaint: {said[:600]!r}")
    seen = (UserWarning, RuntimeWarning, FutureWarning)
    found += [f"warning {each.message}" for each in warned if issubclass(each.category, seen)]
    found += [f"wrote {path}" for path in written if not _in_its_place(path)]
    return found


def _in_its_place(path: str) -> bool:
    """In ``out``, the null device, or a cache that is nobody's output."""
    full = os.path.realpath(path)
    home = Path.home()
    caches = (os.environ.get("NUMBA_CACHE_DIR"), f"{home}/.cache", f"{home}/.config/matplotlib")
    places = [os.path.realpath("out"), *(cache for cache in caches if cache)]
    inside = any(full == place or full.startswith(place + os.sep) for place in places)
    return inside or "__pycache__" in full or full == os.devnull


def clear(folder: Path) -> None:
    """Empty a folder of the sandbox."""
    for path in sorted(folder.rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() and not path.is_symlink() else path.unlink()
