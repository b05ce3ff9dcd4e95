"""Files that are read as a whole, and not waited for."""

from __future__ import annotations

from pathlib import Path

from merp.models.base.errors import BadInput


def check_regular(path: Path) -> None:
    """Refuse what is there and is no regular file: a folder, a device, a pipe, which has no end.

    What is not there is left to whoever opens it.

    Raises:
        BadInput: it is no regular file.
    """
    if path.exists() and not path.is_file():
        raise BadInput(f"{path}: cannot be read: no regular file")
