"""Write a set of files whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from merp.models.errors import BadInput


def write_whole(files: Mapping[Path, str]) -> None:
    """Write every file beside its place, and move them there, in order, when all are written.

    The folder of a file is made where only it is missing.

    Raises:
        BadInput: a file cannot be written; none of the new ones is then half there.
    """
    drafts = {path: path.with_name(f".{path.name}.{os.getpid()}") for path in files}
    path = next(iter(files))
    try:
        for path, draft in drafts.items():
            path.parent.mkdir(exist_ok=True)
            draft.write_text(files[path], encoding="utf-8")
        for path, draft in drafts.items():
            os.replace(draft, path)
    except OSError as error:
        raise BadInput(f"-o {path}: cannot be written: {error.strerror}") from error
    finally:
        for draft in drafts.values():
            draft.unlink(missing_ok=True)
