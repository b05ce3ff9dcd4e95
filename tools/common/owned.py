"""Folders that are the tool's own as a whole, and what of others lies in them."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

MANIFEST = "manifest.json"
"""Names, under ``files``, every other file of its folder by its SHA-256."""


def own(folder: Path, facts: Mapping[str, Any]) -> dict[str, Any]:
    """Write the manifest of a folder: facts about it, and the SHA-256 of every file in it."""
    hashes = {
        path: hashlib.sha256((folder / path).read_bytes()).hexdigest()
        for path in sorted(_files(folder), key=Path)
    }
    manifest = {**facts, "files": hashes}
    (folder / MANIFEST).write_bytes(_text(manifest))
    return manifest


def manifest_sha(manifest: Mapping[str, Any]) -> str:
    """SHA-256 of the file that ``own`` has made of a manifest."""
    return hashlib.sha256(_text(manifest)).hexdigest()


def foreign(folder: Path) -> list[str]:
    """The files in a folder that its manifest does not name, by their paths in it.

    Of a folder that is not there: none. Without a manifest that can be read: all of them.
    """
    named = _named(folder)
    return sorted(_files(folder) - (set() if named is None else named | {MANIFEST}))


def is_owned(folder: Path) -> bool:
    """Whether a folder has a manifest, or nothing at all."""
    return _named(folder) is not None or not _files(folder)


def _text(manifest: Mapping[str, Any]) -> bytes:
    return (json.dumps(manifest, indent=2) + "\n").encode("ascii")


def _named(folder: Path) -> set[str] | None:
    try:
        return set(json.loads((folder / MANIFEST).read_text(encoding="utf-8"))["files"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _files(folder: Path) -> set[str]:
    """Everything in a folder that is no folder, or is a link to one."""
    return {
        Path(where, name).relative_to(folder).as_posix()
        for where, folders, files in os.walk(folder)
        for name in (*files, *(each for each in folders if Path(where, each).is_symlink()))
    }
