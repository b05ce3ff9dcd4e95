"""One cache for all results that take long to build. Each entry is checked at every use.

An entry is a folder, ``<cache>/<kind>/<key>``. It contains a list of the checksums of its files,
which also names the entry. An entry is written to a temporary folder, synced, and then renamed,
under a lock of its own. An entry that is damaged, incomplete or misnamed is removed and built
again.

The checksums detect damage. Owner and permissions keep other users out. A folder that others can
write to is refused. An entry that was open to others is built again.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import json
import os
import shutil
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from merp.models.base.errors import BadInput
from merp.models.base.private_folder import OPEN, PRIVATE, make_private

SUMS = "checksums.json"
_TRIES, _PAUSE = 10, 0.05  # seconds, while other processes write to it


def cache_directory() -> Path:
    """Return the folder of the builds: ``$MERP_CACHE``, or ``~/.cache/merp``.

    Raises:
        BadInput: the variable is not set, and the user has no home folder.
    """
    named = os.environ.get("MERP_CACHE")
    if named:
        return Path(named)
    try:
        return Path.home() / ".cache" / "merp"
    except RuntimeError:
        raise BadInput("MERP_CACHE: must name a folder if there is no home folder") from None


@dataclass(frozen=True)
class Entry:
    """An entry of the cache, whether it exists or not.

    Attributes:
        kind: kind of the cached result; a folder of the cache.
        key: hash of all inputs of the build.
    """

    kind: str
    key: str

    @property
    def place(self) -> Path:
        """The folder of the entry's files."""
        return cache_directory() / self.kind / self.key

    def intact(self) -> bool:
        """Return whether the entry exists, was never open to others, and has its original files."""
        try:
            found = self.place.lstat()
            if (found.st_uid, stat.S_IMODE(found.st_mode)) != (os.getuid(), PRIVATE):
                return False
            # first, because it checks that all entries are files, also the list
            sums = self._sums(self.place)
            return (self.place / SUMS).read_bytes() == sums
        except OSError:
            return False

    def kept(self, make: Callable[[Path], object]) -> Path:
        """Return the folder of an intact entry. Build the entry if it is not intact.

        Another process that needs the same entry waits until it exists.

        Args:
            make: puts the entry's files into an empty folder.

        Raises:
            BadInput: the cache cannot be written, or does not belong to the user.
        """
        with _told():
            self._open()
        if self.intact():
            return self.place
        with self._lock() as locked:
            assert locked
            if not self.intact():  # else another process has built it
                self._build(make)
        return self.place

    def renewed(self, make: Callable[[Path], object]) -> None:
        """Build the entry as ``kept`` does, even if it is intact."""
        with _told():
            self._open()
        with self._lock():
            self._build(make)

    def _sums(self, folder: Path) -> bytes:
        """Return the list of checksums of the files in ``folder``.

        Raises:
            OSError: the folder holds something else than files (reading a pipe would block), or
                others can write to a file.
        """
        sums = {}
        for path in sorted(folder.iterdir()):
            found = path.lstat()
            if not stat.S_ISREG(found.st_mode):
                raise OSError(errno.EINVAL, "not a regular file", str(path))
            if found.st_uid != os.getuid() or found.st_mode & OPEN:
                raise OSError(errno.EPERM, "open to others", str(path))
            if path.name != SUMS:
                with path.open("rb") as file:
                    sums[path.name] = hashlib.file_digest(file, "sha256").hexdigest()
        return json.dumps({"entry": f"{self.kind}/{self.key}", "files": sums}, indent=1).encode()

    def _open(self) -> None:
        """Make the folder of the kind, or check that nobody else can write to it or to a parent.

        The contents are checked when they are used.
        """
        if self.place.parent.is_symlink():  # the cache may be a link; its contents belong to merp
            raise BadInput(f"MERP_CACHE: {self.place.parent} must be a folder, not a link")
        for folder in (cache_directory(), self.place.parent):
            make_private(folder, "MERP_CACHE")
        self.place.parent.chmod(PRIVATE)

    @contextmanager
    def _lock(self, wait: bool = True) -> Iterator[bool]:
        """Hold the entry's lock. Without ``wait``, yield whether the lock was free."""
        with _told():
            place = self.place.with_name(f"{self.key}.lock")
            file = os.open(place, os.O_CREAT | os.O_RDWR | os.O_NOFOLLOW, 0o600)
        try:
            locked = _locked(file)
            while wait and not locked:
                time.sleep(_PAUSE)  # a waiting process is thus seen to be alive
                locked = _locked(file)
            yield locked
        finally:
            os.close(file)

    @property
    def _draft(self) -> Path:
        """The folder in which the holder of the lock builds the entry."""
        return self.place.with_name(f".{self.key}.draft")

    def _build(self, make: Callable[[Path], object]) -> None:
        with _told():
            for left in self.place.parent.glob(".*.draft"):
                Entry(self.kind, left.name[1:].removesuffix(".draft"))._sweep(self)
            _remove(self._draft)
            self._draft.mkdir(mode=PRIVATE)
        try:
            make(self._draft)
            with _told():
                (self._draft / SUMS).touch()
                for path in self._draft.iterdir():
                    path.chmod(path.lstat().st_mode & ~OPEN)  # independent of the umask
                (self._draft / SUMS).write_bytes(self._sums(self._draft))
                for path in (*self._draft.iterdir(), self._draft):
                    _sync(path)
                _remove(self.place)
                self._draft.rename(self.place)
                _sync(self.place.parent)
        finally:
            shutil.rmtree(self._draft, ignore_errors=True)

    def _sweep(self, builder: Entry) -> None:
        """Remove the draft of a killed process, unless another process builds in it now."""
        if self != builder:
            with self._lock(wait=False) as locked:
                if locked:
                    _remove(self._draft)


def _locked(file: int) -> bool:
    try:
        with _told():
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


@contextmanager
def _told() -> Iterator[None]:
    """Report in one line that the cache cannot be used."""
    try:
        yield
    except BlockingIOError:  # the lock is held
        raise
    except OSError as error:
        raise BadInput(
            f"MERP_CACHE: {error.filename or cache_directory()}: {error.strerror}"
        ) from error


def _sync(path: Path) -> None:
    file = os.open(path, os.O_RDONLY)
    try:
        os.fsync(file)
    finally:
        os.close(file)


def _remove(place: Path) -> None:
    """Remove a file or folder of any type and with any permissions.

    Compilers that a killed build has started keep writing until they notice that the folder is
    gone.
    """
    for tries in reversed(range(_TRIES)):
        try:
            return _remove_once(place)
        except OSError as error:
            if not tries or error.errno not in (errno.ENOTEMPTY, errno.ENOENT):
                raise
            time.sleep(_PAUSE)


def _remove_once(place: Path) -> None:
    if place.is_dir() and not place.is_symlink():
        place.chmod(PRIVATE)
        for folder, names, _ in os.walk(place):
            for path in (Path(folder, name) for name in names):
                if not path.is_symlink():
                    path.chmod(PRIVATE)
        shutil.rmtree(place)
    else:
        place.unlink(missing_ok=True)
