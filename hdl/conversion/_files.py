"""Exported files on disk: all of them, or what was there before.

Each file is written in full into a folder beside the files that it replaces, and takes its place
in one rename. What is replaced waits in that folder too, and goes back if a rename fails. Killed in
between, every file is complete, some of them of this export and some of the one before.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path


def write_files(directory: Path, texts: Mapping[str, str]) -> tuple[Path, ...]:
    """Put files into ``directory``, which is created if missing; others in it are left alone.

    Args:
        directory: where the files go.
        texts: contents by file name.
    """
    directory.mkdir(parents=True, exist_ok=True)
    stage = Path(tempfile.mkdtemp(prefix=".convert-", dir=directory))
    try:
        for part in ("new", "old"):
            (stage / part).mkdir()
        for name, text in texts.items():
            (stage / "new" / name).write_text(text, encoding="ascii")
        _replace(directory, stage, list(texts))
    finally:
        shutil.rmtree(stage, ignore_errors=True)
    return tuple(directory / name for name in texts)


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
