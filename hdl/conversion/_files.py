"""Exported files on disk: all of them, or what was there before.

Each file is written in full into a folder beside the files that it replaces, and takes its place
in one rename. What is replaced waits in that folder too, and goes back if a rename fails. Killed in
between, every file is complete, some of them of this export and some of the one before.
A refusal or a failure leaves nothing behind, no folder either.
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
    """Put files into ``directory``, which is created if missing; others in it are left alone.

    Args:
        directory: where the files go.
        texts: contents by file name.
        approve: called with the folder of the written files before they take their places; what it
            raises keeps them from there.
    """
    made = [each for each in (directory, *directory.parents) if not each.exists()]
    directory.mkdir(parents=True, exist_ok=True)
    try:
        _staged(directory, texts, approve)
    except BaseException:
        for each in made:
            with suppress(OSError):  # another has put something there
                each.rmdir()
        raise
    return tuple(directory / name for name in texts)


def _staged(
    directory: Path, texts: Mapping[str, str], approve: Callable[[Path], None] | None
) -> None:
    """Write files into a folder of their own, and put them from there into place."""
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
    """Move the staged files into place, or undo what was moved."""
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
