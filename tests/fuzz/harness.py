"""Run ``merp`` in this process on hostile input, and report forbidden behaviour.

A case is a kind and a number, and always the same: its number seeds all random choices in it.
"""

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
from unittest.mock import patch

from merp.models.base.errors import BadInput
from merp.tools.cli import main
from merp.tools.common import progress_bar
from merp.tools.simulate import session

SECONDS = 60  # processor time, after which a case counts as one that never ends
progress_bar.PATIENCE = 3600.0  # progress is not a complaint

PATIENCE = 200  # seconds by the clock, for a case that waits
SETUP = 600  # processor time, for parts that are made once
MEMORY = 12 << 30  # bytes of addresses, so that an allocation without limit fails

NOTES = (  # beginning and end of notes that good input may cause
    ("merp: --resume: ", " runs again\n"),
    ("merp resources: ", "; after an interrupt, finished blocks remain in the cache\n"),
    ("merp: ", " now; the former name works until version 1.0\n"),
)
"""Beginning and end of a line that is not a complaint."""

WRITES = ("os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.link", "os.symlink", "os.truncate")
_written: list[str] | None = None


def _watch(event: str, args: tuple[Any, ...]) -> None:
    if _written is None:
        return
    if event == "open" and isinstance(args[0], str | bytes | os.PathLike):
        nameless = os.path.isdir(args[0])  # a file without a name, told by its folder
        if args[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT) and not nameless:
            _written.append(os.path.realpath(os.fsdecode(args[0])))
    elif event in WRITES:
        names = [os.fsdecode(each) for each in args if isinstance(each, str | bytes)]
        folders = [None] if event == "os.truncate" else args[-len(names) :]
        for folder, name in map(os.path.split, map(_from_folder, names, folders)):
            # The last name is not followed where it is a link.
            _written.append(os.path.join(os.path.realpath(folder), name))


def _from_folder(name: str, folder: object) -> str:
    """Return a path that may be relative to an open folder: its descriptor, or -1."""
    name = name.rstrip("/")
    if isinstance(folder, int) and folder >= 0:
        return os.path.join(os.readlink(f"/proc/self/fd/{folder}"), name)
    return name


sys.addaudithook(_watch)


class NeverEnds(BaseException):
    """A case took too long; no handler of the command line stops this."""


def _stop(number: int, frame: FrameType | None) -> None:
    raise NeverEnds


@contextmanager
def sandbox() -> Iterator[Path]:
    """Provide a folder with ``in`` and ``out`` to work in; memory is limited meanwhile."""
    home, limits = Path.cwd(), resource.getrlimit(resource.RLIMIT_AS)
    handlers = {each: signal.signal(each, _stop) for each in (signal.SIGPROF, signal.SIGALRM)}
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
            for each, handler in handlers.items():
                signal.signal(each, handler)


@contextmanager
def nothing_simulated() -> Iterator[None]:
    """End each simulation before it begins, because only the input is examined."""
    ended = BadInput("the input is good, and nothing is simulated")
    with patch.object(session, "simulate", side_effect=ended):
        yield


def expect_good(words: Sequence[str]) -> None:
    """Run a command line on good input without a time limit, because numba may have to compile."""
    found = faults(words, allowed=(0,), seconds=SETUP)
    assert not found, found


def faults(
    words: Sequence[str],
    allowed: Sequence[int] = (0, 2),
    never: str = "",
    seconds: int = SECONDS,
) -> list[str]:
    """Run a command line in the sandbox; return the faults of the answer.

    allowed: statuses that the input can cause.
    never: forbidden beginning of a complaint.
    seconds: limit of processor time, after which it counts as a case that never ends.
    """
    global _written
    found = []
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for _ in range(2))
    written: list[str] = []
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("default")
        with redirect_stdout(out), redirect_stderr(err):
            signal.setitimer(signal.ITIMER_PROF, seconds)
            signal.setitimer(signal.ITIMER_REAL, PATIENCE * seconds / SECONDS)
            _written = written
            try:
                status: object = main(words)
            except SystemExit as stop:
                status = stop.code or 0
            except NeverEnds:
                status = f"nothing in {seconds} s of the processor, or it waited"
            except BaseException as error:  # exactly the fault that is searched
                status = repr(error)
            finally:
                _written = None
                signal.setitimer(signal.ITIMER_PROF, 0)
                signal.setitimer(signal.ITIMER_REAL, 0)
    err.flush()
    said = err.buffer.getvalue().decode("utf-8", "replace")  # type: ignore[attr-defined]
    found += answered(status, said, allowed)
    if never and said.startswith(never):
        found.append(said.strip()[:600])
    seen = (UserWarning, RuntimeWarning, FutureWarning)
    found += [f"warning {each.message}" for each in warned if issubclass(each.category, seen)]
    found += [f"wrote {path}" for path in written if not _in_its_place(path)]
    return found


def answered(status: object, said: str, allowed: Sequence[int]) -> list[str]:
    """Return the faults of a status and of the text on standard error.

    A complaint is one line. Only a failed check may have none, because its table reports it.
    """
    found = []
    if status not in allowed:
        found.append(f"status {status}: {said.strip()[:600]}")
    lines = [line for line in said.splitlines(keepends=True) if not _is_note(line)]
    counts = {0: (0,), 1: (0, 1), 2: (1,)}.get(status) if isinstance(status, int) else None
    if counts is not None and len(lines) not in counts:
        found.append(f"status {status} with {len(lines)} lines of complaint: {said[:600]!r}")
    return found


def _is_note(line: str) -> bool:
    return any(line.startswith(begin) and line.endswith(end) for begin, end in NOTES)


def _in_its_place(full: str) -> bool:
    """Return whether a path is in ``out``, the null device, or a cache outside of all outputs."""
    home = Path.home()
    caches = (os.environ.get("NUMBA_CACHE_DIR"), f"{home}/.cache", f"{home}/.config/matplotlib")
    places = [os.path.realpath("out"), *(cache for cache in caches if cache)]
    inside = any(full == place or full.startswith(place + os.sep) for place in places)
    own = os.path.join(os.path.realpath(tempfile.gettempdir()), "merp-")  # gone with the run
    nowhere = full.startswith((os.devnull, "/proc"))  # an attempt, which must fail
    return inside or nowhere or "__pycache__" in full or full.startswith(own)


def clear(folder: Path) -> None:
    """Empty a folder of the sandbox, or replace whatever else has its name."""
    if folder.is_symlink() or not folder.is_dir():
        folder.unlink(missing_ok=True)
        folder.mkdir()
    folder.chmod(0o700)
    for path in folder.iterdir():
        if path.is_dir() and not path.is_symlink():
            clear(path)
            path.rmdir()
        else:
            path.unlink()
