"""The only writer of output files: every verb writes its files here.

Files are replaced as a set: after an interruption a place has either all old or all new files. A
place has one writer at a time. ``stage`` describes the mechanism.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Any

from merp.cosim.engines.programs.interrupts import uninterrupted
from merp.models.base.errors import BadInput
from merp.tools.common.owned import is_owned, own
from merp.tools.common.stage import Busy, Stage, check_place, refused, sweep


class Output:
    """The right to write to a place, from entering to leaving the context.

    ``said`` is the name of the place in messages. ``name`` is the file or the package, "" for a
    folder. Names are paths from ``root``. A file may replace a regular file or a link to one, or be
    new; any other entry is refused. Files of others in the folder stay.
    """

    def __init__(self, said: str, root: Path, name: str) -> None:
        self.root = root
        self.said = said
        self.name = name
        self._made: list[Path] = []

    @classmethod
    def of_folder(cls, option: str, path: Path) -> Output:
        """Write into a folder, which is created if it is missing.

        Args:
            option: the option of the path, for messages.
            path: the folder.

        Raises:
            BadInput: the path is not a folder, or cannot be written.
        """
        if os.path.lexists(path) and not path.is_dir():
            raise BadInput(f"{option} {path}: is no folder: allowed is a folder, or a new name")
        said, folder = f"{option} {path}", Path(os.path.realpath(path))
        _check_reach(said, folder)
        return cls(said, folder, "")

    @classmethod
    def of_package(cls, option: str, path: Path) -> Output:
        """Write one folder as a whole, by ``add_folder`` with ``name``.

        Args:
            option: the option of the path, for messages.
            path: the folder.

        Raises:
            BadInput: the path is not a folder, has files of others and no manifest, contains the
                working directory, or cannot be written.
        """
        if os.path.lexists(path) and not path.is_dir():
            raise BadInput(f"{option} {path}: is no folder: allowed is a folder, or a new name")
        said, folder = f"{option} {path}", Path(os.path.realpath(path))
        here = Path.cwd()
        if folder in (here, *here.parents):  # it is moved away when it is replaced
            raise BadInput(f"{said}: has the working directory: allowed is another folder")
        _check_reach(said, folder.parent)
        _check_owned(said, folder)
        return cls(said, folder.parent, folder.name)

    @classmethod
    def of_file(cls, option: str, path: Path) -> Output:
        """Write a file and its companions next to it; its folder is created if it is missing.

        Raises:
            BadInput: the path exists but is not a regular file, or cannot be written.
        """
        said = f"{option} {path}"
        folder = Path(os.path.realpath(path.parent))
        _check_reach(said, folder)
        with _blamed(said):
            refusal = refused(path)
        if refusal:
            raise BadInput(f"{said}: {refusal}: allowed is a regular file, or a new name")
        return cls(said, folder, path.name)

    @uninterrupted
    def __enter__(self) -> Output:
        """Take the lock, and tidy up after writers that have died.

        Raises:
            BadInput: another process writes there, or the place cannot be written.
        """
        with _blamed(self.said):
            try:
                self._make_root()
                self._stage = Stage(self.root, self.name and f".{self.name}")
            except Busy:
                raise BadInput(f"{self.said}: another merp is writing there") from None
            except BaseException:
                self._remove_root()
                raise
            sweep(self.root)
        return self

    @uninterrupted
    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Drop drafts that are not committed, and release the lock."""
        with _blamed(self.said):
            self._stage.close()
        self._remove_root()

    def check(self, name: str) -> None:
        """Refuse, before the work, a file ``name`` that could not be put into place.

        Raises:
            BadInput: another entry blocks its path.
        """
        with _blamed(self.said):
            check_place(self.root, name)

    def draft(self, name: str) -> Path:
        """Return the path for the draft of the file ``name``; its folder is created."""
        path = self._stage.files / name
        with _blamed(self.said):
            path.parent.mkdir(parents=True, exist_ok=True)
        return path

    def add(self, files: Mapping[str, str | bytes]) -> None:
        """Write drafts of files by name. Text is written as UTF-8.

        Raises:
            BadInput: one cannot be written.
        """
        for name, content in files.items():
            path = self.draft(name)
            with _blamed(self.said):
                path.write_bytes(content.encode() if isinstance(content, str) else content)

    def add_folder(self, name: str, fill: Callable[[Path], Mapping[str, Any]]) -> dict[str, Any]:
        """Let ``fill`` write a folder that replaces the whole folder ``name``.

        Returns its manifest, which is written last: the result of ``fill``, and the SHA-256 of
        every file. Files that the old manifest does not name are moved into the new folder.

        Raises:
            BadInput: it cannot be written, or the existing folder has no manifest.
        """
        folder = self._stage.folders / name
        _check_owned(self.said, self.root / name)
        with _blamed(self.said):
            folder.mkdir(parents=True)
            return own(folder, fill(folder))

    def commit(self) -> None:
        """Put all drafts into place as one set.

        Raises:
            BadInput: another entry blocks a path, or the disk is full. The old files are then kept.
        """
        commit_together([self])

    def write(self, files: Mapping[str, str | bytes]) -> None:
        """Add files and commit."""
        self.add(files)
        self.commit()

    def remove(self, names: Iterable[str]) -> None:
        """Remove files by name. A missing file is no error.

        Raises:
            BadInput: one cannot be removed.
        """
        with _blamed(self.said):
            for name in names:
                (self.root / name).unlink(missing_ok=True)

    def _make_root(self) -> None:
        missing = [path for path in (self.root, *self.root.parents) if not path.exists()]
        for path in reversed(missing):
            with suppress(FileExistsError):
                path.mkdir()
                self._made.append(path)

    def _remove_root(self) -> None:
        """Remove the folders that were created for the output, unless a file was written."""
        with suppress(OSError):
            while self._made:
                self._made.pop().rmdir()


def commit_together(outputs: Sequence[Output]) -> None:
    """Put all drafts of several places into place as one set, the first place's files last.

    Raises:
        BadInput: as for ``Output.commit``.
    """
    leader, *others = outputs
    with _blamed(" ".join(each.said for each in outputs)):
        leader._stage.commit([each._stage for each in others])


def _check_reach(said: str, folder: Path) -> None:
    """Refuse a folder that does not exist and cannot be created, or that cannot be written.

    Raises:
        BadInput: names the folder that blocks the path.
    """
    with _blamed(said):
        for near in (folder, *folder.parents):
            with suppress(FileNotFoundError, NotADirectoryError):
                near.lstat()
                break
        if not near.is_dir():
            raise BadInput(f"{said}: {near.name} is no folder")
        if not os.access(near, os.W_OK | os.X_OK):
            raise PermissionError(errno.EACCES, f"no permission to write to {near.name or near}")


def _check_owned(said: str, place: Path) -> None:
    """Refuse a place that has something else than a folder with a manifest, or an empty one.

    Raises:
        BadInput: names the place.
    """
    if os.path.lexists(place) and not (place.is_dir() and is_owned(place)):
        raise BadInput(f"{said}: {place.name} exists and is no export: give another folder")


@contextmanager
def _blamed(said: str) -> Iterator[None]:
    """Turn an error of the operating system into one line about the place."""
    try:
        yield
    except OSError as error:
        raise BadInput(f"{said}: cannot be written: {error.strerror or error}") from error
