"""Read a text file of limited size that a user gave."""

from __future__ import annotations

from pathlib import Path

from merp.models.base.errors import BadInput
from merp.models.base.regular_file import check_regular


def read_text(path: Path, most: int, *, regular: bool = False) -> str:
    """Return the UTF-8 text of ``path``, of at most ``most`` bytes; line ends become newlines.

    regular: refuse a path that is not a regular file. If a user names a pipe, another process
    writes to it. If a folder contains a pipe in place of a file, reading it might never end.

    Raises:
        BadInput: the file cannot be read, is longer, or is not text.
    """
    try:
        if regular:
            check_regular(path)
        with path.open("rb") as file:
            content = file.read(most + 1)
    except (OSError, ValueError) as error:  # ValueError: a path with a null character
        reason = getattr(error, "strerror", None) or "no such name is allowed"
        raise BadInput(f"{path}: cannot be read: {reason}") from error
    if len(content) > most:
        raise BadInput(f"{path}: too large: allowed are at most {most:,} bytes")
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise BadInput(f"{path}: not UTF-8 text: byte {error.start}") from error
    return text.replace("\r\n", "\n").replace("\r", "\n")
