"""Folders that merp owns as a whole, and the files of others in them."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from merp.models.base.file_format import PACKAGE, check_format, numbered

MANIFEST = "manifest.json"
"""File that lists, under ``files``, every other file of its folder with its SHA-256."""


def own(folder: Path, facts: Mapping[str, Any]) -> dict[str, Any]:
    """Write the manifest of a folder: facts about it, and the SHA-256 of every file in it."""
    hashes = {
        path: hashlib.sha256((folder / path).read_bytes()).hexdigest()
        for path in sorted(_files(folder), key=Path)
    }
    manifest = numbered({**facts, "files": hashes}, PACKAGE)
    (folder / MANIFEST).write_bytes(_text(manifest))
    return manifest


def manifest_sha(manifest: Mapping[str, Any]) -> str:
    """Return the SHA-256 of the file that ``own`` writes for a manifest."""
    return hashlib.sha256(_text(manifest)).hexdigest()


def foreign(folder: Path) -> list[str]:
    """Return the files in a folder that its manifest does not name, as paths in the folder.

    A missing folder has none. Without a readable manifest, all files are foreign.
    """
    named = _named(folder)
    return sorted(_files(folder) - (set() if named is None else named | {MANIFEST}))


def is_owned(folder: Path) -> bool:
    """Return whether a folder has a manifest, or is empty.

    Raises:
        BadInput: the manifest has a newer format, or a number that is no format.
    """
    check_format(folder / MANIFEST, _manifest(folder), PACKAGE)
    return _named(folder) is not None or not _files(folder)


def _text(manifest: Mapping[str, Any]) -> bytes:
    return (json.dumps(manifest, indent=2) + "\n").encode("ascii")


def _manifest(folder: Path) -> Any:
    """Return the content of the manifest; None if it cannot be read."""
    try:
        return json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None


def _named(folder: Path) -> set[str] | None:
    try:
        return set(_manifest(folder)["files"])
    except (KeyError, TypeError):
        return None


def _files(folder: Path) -> set[str]:
    """Return all entries below a folder but folders; links to folders are included."""
    return {
        Path(where, name).relative_to(folder).as_posix()
        for where, folders, files in os.walk(folder)
        for name in (*files, *(each for each in folders if Path(where, each).is_symlink()))
    }
