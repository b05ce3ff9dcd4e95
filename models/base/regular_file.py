"""Checks of a file before it is read: it is a regular file, and it is stored completely."""

from __future__ import annotations

from pathlib import Path

from merp.models.base.errors import BadInput

BLOCK = 512
"""Bytes of a block of ``st_blocks``."""

SMALL = 1 << 24
"""Bytes of a file that is read with its holes."""


def check_regular(path: Path) -> None:
    """Refuse an existing path that is not a regular file: a folder, a device, or an endless pipe.

    A missing path is accepted; the caller reports it when it opens the file.

    Raises:
        BadInput: the path is not a regular file.
    """
    if path.exists() and not path.is_file():
        raise BadInput(f"{path}: cannot be read: no regular file")


def check_whole(path: Path) -> None:
    """Refuse a file that is mostly a hole: its zeros take memory, but no space on the disk.

    Raises:
        BadInput: less than half of a large file is stored.
        OSError: the file is missing.
    """
    found = path.stat()
    if found.st_size >= SMALL and found.st_blocks * BLOCK < found.st_size // 2:
        raise BadInput(
            f"{path}: {found.st_size:,} bytes, of which {found.st_blocks * BLOCK:,} are stored: "
            "allowed is a file without holes"
        )
