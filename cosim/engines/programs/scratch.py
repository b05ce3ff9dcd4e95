"""Temporary folders, each locked by the process that uses it, so that none remains permanently.

A killed process leaves its folder behind. The kernel then releases the lock, and the next process
that needs a temporary folder removes the old one.
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
    """Make an empty folder. Remove it with its contents at the end."""
    folder, lock = _made()
    try:
        yield folder
    finally:
        _remove(folder, lock)


@uninterrupted
def _made() -> tuple[Path, int]:
    """Return a new folder and its lock. Remove the folders of dead processes."""
    while True:
        folder = Path(tempfile.mkdtemp(prefix=PREFIX))
        # another process removed it as old between these two lines
        with suppress(FileNotFoundError):
            lock = _locked(folder)
            break
    _sweep(folder.parent)
    return folder, lock


@uninterrupted
def _remove(folder: Path, lock: int) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    os.close(lock)


def _locked(folder: Path) -> int:
    """Return a descriptor that holds the lock of a folder. A file system may lack locks.

    Raises:
        FileNotFoundError: the folder is removed, or another process is going to remove it.
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
    """Remove the folders of dead processes."""
    for folder in parent.glob(f"{PREFIX}*"):
        with suppress(OSError):
            found = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
            try:
                if os.fstat(found).st_uid == os.geteuid():
                    fcntl.flock(found, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    shutil.rmtree(folder, ignore_errors=True)
            finally:
                os.close(found)
