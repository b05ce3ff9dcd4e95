"""Temporary folders, each locked by the process that works in it, so that none stays for good.

A process that is killed leaves its folder behind. The kernel releases the lock, and the next
process that needs such a folder removes it.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from merp.cosim.engines.programs.interrupts import uninterrupted

PREFIX = "merp-work-"


@contextmanager
def scratch() -> Iterator[Path]:
    """Make an empty folder, and remove it with all that is in it at the end."""
    folder, lock = _made()
    try:
        yield folder
    finally:
        _remove(folder, lock)


@uninterrupted
def _made() -> tuple[Path, int]:
    """A new folder and its lock; those of processes that no longer live are removed."""
    while True:
        folder = Path(tempfile.mkdtemp(prefix=PREFIX))
        with suppress(FileNotFoundError):  # taken for an old one between the two lines
            lock = _locked(folder)
            break
    _sweep(folder.parent)
    return folder, lock


@uninterrupted
def _remove(folder: Path, lock: int) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    os.close(lock)


def _locked(folder: Path) -> int:
    """Return a descriptor that holds the lock of a folder; a file system may have no locks.

    Raises:
        FileNotFoundError: it is removed, or somebody else's to remove.
    """
    found = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        fcntl.flock(found, fcntl.LOCK_EX | fcntl.LOCK_NB)
        folder.stat()
    except BlockingIOError:
        os.close(found)
        raise FileNotFoundError(folder) from None
    except FileNotFoundError:
        os.close(found)
        raise
    except OSError:
        pass
    return found


def _sweep(parent: Path) -> None:
    """Remove our folders whose process no longer lives."""
    for folder in parent.glob(f"{PREFIX}*"):
        with suppress(OSError):
            found = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
            try:
                if os.fstat(found).st_uid == os.geteuid():
                    fcntl.flock(found, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    shutil.rmtree(folder, ignore_errors=True)
            finally:
                os.close(found)
