"""Write exported files to disk completely, or leave the previous ones.

Each file is written in full into a folder next to the files that it replaces. One rename moves it
into its place. Replaced files wait in that folder and are restored if a rename fails. If the
process is killed in between, every file is complete: some are of this export, some of the previous
one. A refusal or a failure leaves nothing behind, not even a folder.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path


def write_files(
    directory: Path, texts: Mapping[str, str], approve: Callable[[Path], None] | None = None
) -> tuple[Path, ...]:
    """Write files into ``directory``, which is created if missing; other files in it are unchanged.

    Args:
        directory: the target folder.
        texts: contents by file name.
        approve: called with the folder of the written files before they are moved into place. If it
            raises an error, they are not moved.
    """
    made = [each for each in (directory, *directory.parents) if not each.exists()]
    directory.mkdir(parents=True, exist_ok=True)
    try:
        _staged(directory, texts, approve)
    except BaseException:
        for each in made:
            with suppress(OSError):  # another process has added a file
                each.rmdir()
        raise
    return tuple(directory / name for name in texts)


def _staged(
    directory: Path, texts: Mapping[str, str], approve: Callable[[Path], None] | None
) -> None:
    """Write files into a separate folder, and move them from there into place."""
    stage = Path(tempfile.mkdtemp(prefix=".convert-", dir=directory))
    try:
        for part in ("new", "old"):
            (stage / part).mkdir()
        for name, text in texts.items():
            (stage / "new" / name).write_text(text, encoding="ascii")
        if approve is not None:
            approve(stage / "new")
        _replace(directory, stage, list(texts))
    finally:
        shutil.rmtree(stage, ignore_errors=True)


def _replace(directory: Path, stage: Path, names: list[str]) -> None:
    """Move the staged files into place, or undo the moves."""
    moved: list[str] = []
    try:
        for name in names:
            moved.append(name)
            if (directory / name).exists():
                shutil.copy2(directory / name, stage / "old" / name)
            (stage / "new" / name).replace(directory / name)
    except BaseException:
        for name in moved:
            if (stage / "old" / name).exists():
                (stage / "old" / name).replace(directory / name)
            elif not (stage / "new" / name).exists():
                (directory / name).unlink(missing_ok=True)
        raise
