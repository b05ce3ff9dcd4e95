"""A check that a path is a regular file, so that reading it ends without waiting."""

from __future__ import annotations

from pathlib import Path

from merp.models.base.errors import BadInput


def check_regular(path: Path) -> None:
    """Refuse an existing path that is not a regular file: a folder, a device, or an endless pipe.

    A missing path is accepted; the caller reports it when it opens the file.

    Raises:
        BadInput: the path is not a regular file.
    """
    if path.exists() and not path.is_file():
        raise BadInput(f"{path}: cannot be read: no regular file")
