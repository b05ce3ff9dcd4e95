"""The hidden folder in which a set of files is prepared: lock, drafts and their move into place.

The stage is inside the folder that it writes to, so that a rename moves a draft into place. Only
the process that holds its lock may write. The kernel releases the lock if the process dies. Files
that the next holder finds there therefore belong to a dead writer. The stage contains:

- ``new``: drafts, discarded unless ``new`` is renamed
- ``waiting``: complete and synced, part of a set over several stages; ready if the leader's is
  ready
- ``ready``: complete and synced; the next process moves it into place, after any interruption
- ``done``: the rest of a set that is in place

Each of the first three contains three folders. Each entry of ``files`` replaces one file. Each
entry of ``folders`` replaces a whole folder. ``old`` contains folders that were replaced.

A set over several stages has a leader. The others wait first, each with a file ``set`` that names
the leader's stage and the set. The leader's ``set`` names the waiting stages. The rename of its
``new`` makes the whole set ready. The next process at any of the stages finishes the set. It moves
the leader's files last: once they are in place, no stage waits for them.
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
import shutil
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any
from uuid import uuid4

from merp.tools.common.owned import foreign

SUFFIX = ".merp-draft"
_PARTS = ("new", "waiting", "ready", "done")
_SET = "set"
_TRIES, _PAUSE = 10, 0.05  # a sweeper holds a stale stage for a moment


class Busy(Exception):
    """Another process holds the lock."""


class Stage:
    """A stage whose lock is held.

    Raises:
        Busy: another process holds it.
        OSError: it cannot be created, or is not merp's.
    """

    def __init__(self, root: Path, name: str, tries: int = _TRIES) -> None:
        self.root = root
        self._folder = root / f"{name}{SUFFIX}"
        self._new, self._waiting, self._ready, self._done = (self._folder / part for part in _PARTS)
        self._begun = False  # whether a ready set has begun to move
        self._lock = _locked(self._folder, tries)
        try:
            if set(os.listdir(self._folder)) - set(_PARTS):
                raise OSError(errno.EEXIST, f"{self._folder} is not merp's, move it away")
            self.settle()
        except BaseException:
            os.close(self._lock)
            raise

    @property
    def files(self) -> Path:
        """Folder of the drafts of files, each at its path from the root."""
        return self._new / "files"

    @property
    def folders(self) -> Path:
        """Folder of the drafts of whole folders, with the names of the folders that they
        replace."""
        return self._new / "folders"

    def commit(self, others: Sequence[Stage] = ()) -> None:
        """Put ``files`` and ``folders`` into place, with those of ``others``, as one set.

        Raises:
            OSError: nothing has changed. If the disk failed between two renames, the set stays
                ready instead, and the next run finishes it.
        """
        stages = (*others, self)
        for each in stages:
            each._finish()
            _check(each.root, each._new)
        name = uuid4().hex
        try:
            for each in others:
                each._complete(each._waiting, {"name": name, "leader": str(self._folder)})
            waiting = [str(each._folder) for each in others]
            self._complete(self._ready, {"name": name, "waiting": waiting})
            for each in others:
                each.settle()
            self._apply()
        except OSError:
            if not any(each._begun for each in stages):
                for each in reversed(stages):
                    each._withdraw()
            raise

    def settle(self) -> None:
        """Finish a ready set of an earlier writer, and drop its drafts."""
        self._finish()
        _remove(self._new)

    def _finish(self) -> None:
        """Put a ready set into place, also this writer's own after an interrupt in its commit."""
        if self._waiting.is_dir() and self._is_led():
            self._waiting.rename(self._ready)
        _remove(self._waiting)
        _remove(self._done)
        if self._ready.is_dir():
            self._apply()

    def close(self) -> None:
        """Settle, remove the stage and release the lock."""
        try:
            self.settle()
            self._folder.rmdir()
        finally:
            os.close(self._lock)

    def _complete(self, part: Path, about: dict[str, Any]) -> None:
        """Sync all drafts to the disk, and rename their folder."""
        self._begun = False
        (self._new / _SET).write_text(json.dumps(about), encoding="utf-8")
        for path in _below(self._new):
            _sync(path)
        self._new.rename(part)
        _sync(self._folder)

    def _withdraw(self) -> None:
        """Turn complete files that have not begun to move into drafts again."""
        for part in (self._waiting, self._ready):
            if part.is_dir():
                part.rename(self._new)

    def _is_led(self) -> bool:
        """Return whether the set that waits here is ready at its leader."""
        about = _about(self._waiting)
        leader = _about(Path(about["leader"], "ready"))
        return bool(leader.get("name") == about["name"])

    def _apply(self) -> None:
        self._begun = False
        about = _about(self._ready)
        for folder in map(Path, about.get("waiting", ())):
            if _about(folder / "waiting").get("name") == about["name"]:  # its writer has died
                Stage(folder.parent, folder.name.removesuffix(SUFFIX)).close()
        touched = {self.root}
        files, folders, old = (self._ready / part for part in ("files", "folders", "old"))
        for draft in _regular(files):
            place = self.root / draft.relative_to(files)
            place.parent.mkdir(parents=True, exist_ok=True)
            os.replace(draft, place)
            self._begun = True
            touched |= set(place.parents[: len(draft.relative_to(files).parts)])
        for draft in _entries(folders):
            place = self.root / draft.name
            if place.exists():
                old.mkdir(exist_ok=True)
                place.rename(old / place.name)
            self._begun = True
            draft.rename(place)
        for replaced in _entries(old):
            _carry(replaced, self.root / replaced.name)
        for folder in touched:
            _sync(folder)
        self._ready.rename(self._done)
        shutil.rmtree(self._done)


def sweep(root: Path) -> None:
    """Settle the stages in a folder whose writers have died: its own, and those of files."""
    for path in (*root.glob(SUFFIX), *root.glob(f".*{SUFFIX}")):
        with suppress(OSError, Busy):
            Stage(root, path.name.removesuffix(SUFFIX), tries=1).close()


def _remove(part: Path) -> None:
    if part.is_dir():
        shutil.rmtree(part)


def _about(part: Path) -> dict[str, Any]:
    """Return the description of a set; an empty one if it is missing."""
    try:
        found: dict[str, Any] = json.loads((part / _SET).read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        return {}
    return found


def _locked(folder: Path, tries: int) -> int:
    """Create a folder if it is missing, and return its descriptor, locked."""
    while True:
        with suppress(FileExistsError):
            folder.mkdir(mode=0o700)
        try:
            found = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        except FileNotFoundError:
            if folder.parent.is_dir():
                continue  # the writer has just removed it
            raise
        try:
            if os.fstat(found).st_uid != os.geteuid():
                raise OSError(errno.EPERM, f"{folder} is another user's")
            fcntl.flock(found, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if _is(found, folder):
                return found
        except BlockingIOError:
            tries -= 1
            if not tries:
                os.close(found)
                raise Busy from None
            time.sleep(_PAUSE)
        except BaseException:
            os.close(found)
            raise
        os.close(found)


def _is(descriptor: int, folder: Path) -> bool:
    """Return whether a descriptor belongs to the current folder of that name."""
    try:
        return os.path.samestat(os.fstat(descriptor), os.stat(folder))
    except FileNotFoundError:
        return False


def _check(root: Path, new: Path) -> None:
    """Refuse, before anything moves, any entry that blocks a path."""
    for draft in _regular(new / "files"):
        check_place(root, draft.relative_to(new / "files").as_posix())
    for draft in _entries(new / "folders"):
        for path in foreign(root / draft.name):
            if os.path.lexists(draft / path):
                raise OSError(errno.EEXIST, f"{root / draft.name / path} is in the way")


def check_place(root: Path, name: str) -> None:
    """Refuse a file whose path, from the root, is blocked.

    Raises:
        OSError: names the entry that blocks it.
    """
    place = root / name
    for folder in place.parents[: len(Path(name).parts)]:
        if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
            raise OSError(errno.ENOTDIR, f"{folder} is no folder")
        if folder.exists() and not os.access(folder, os.W_OK | os.X_OK):
            raise PermissionError(errno.EACCES, f"{folder} cannot be written to")
    refusal = refused(place)
    if refusal:
        raise OSError(errno.EEXIST, f"{place} {refusal}")


def refused(place: Path) -> str | None:
    """Return why a file must not be written at a place: the entry there is not a regular file."""
    if place.is_file() or not os.path.lexists(place):
        return None
    kind = "a link that leads nowhere" if not place.exists() else "no regular file"
    return f"is {'a folder' if place.is_dir() else kind}"


def _carry(old: Path, new: Path) -> None:
    """Move the files that are not merp's from a replaced folder into its replacement."""
    for path in foreign(old):
        (new / path).parent.mkdir(parents=True, exist_ok=True)
        (old / path).rename(new / path)
        _sync((new / path).parent)


def _entries(folder: Path) -> list[Path]:
    return sorted(folder.iterdir()) if folder.is_dir() else []


def _below(folder: Path) -> Iterator[Path]:
    """Yield everything in a folder, the content of a folder before the folder itself."""
    for where, _, names in os.walk(folder, topdown=False):
        yield from (Path(where, name) for name in names)
        yield Path(where)


def _regular(folder: Path) -> list[Path]:
    return sorted(path for path in _below(folder) if not path.is_dir())


def _sync(path: Path) -> None:
    """Sync a file, or the names in a folder, to the disk."""
    found = os.open(path, os.O_RDONLY)
    try:
        os.fsync(found)
    except OSError as error:
        if error.errno != errno.EINVAL:  # some file systems cannot sync a folder
            raise
    finally:
        os.close(found)
