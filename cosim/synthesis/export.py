"""Exports on disk: complete or not there, whatever interrupts.

New files are written into a folder beside the target, which then takes the target's place in two
renames. Killed between them, both exports are complete under the names of the two steps, and the
next export puts the target back first.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from merp.models.errors import BadInput

MANIFEST = "manifest.json"


def write_export(directory: Path, write: Callable[[Path], Mapping[str, Any]]) -> dict[str, Any]:
    """Have ``write`` fill a folder that takes the place of ``directory`` when it is complete.

    The manifest is written last: what ``write`` returns, and the SHA-256 of every file.

    Args:
        directory: where the export goes; an export that is there is replaced.
        write: fills the folder that it is given.

    Raises:
        BadInput: the directory cannot be written, or holds something that no export wrote.
    """
    target = directory.resolve()
    new = target.with_name(target.name + ".new")
    old = target.with_name(target.name + ".old")
    try:
        _repair(target, new, old)
        if target.exists() and not (target / MANIFEST).is_file():
            if not target.is_dir() or any(target.iterdir()):
                raise BadInput(f"-o {directory}: exists and is no export, give another directory")
        try:
            new.mkdir(parents=True)
            manifest = {**write(new), "files": _hashes(new)}
            (new / MANIFEST).write_text(json.dumps(manifest, indent=2) + "\n", encoding="ascii")
            if target.exists():
                target.rename(old)
            new.rename(target)
        except (Exception, KeyboardInterrupt):
            _repair(target, new, old)
            raise
        shutil.rmtree(old, ignore_errors=True)
    except OSError as error:
        raise BadInput(f"-o {directory}: cannot be written: {error.strerror or error}") from error
    return manifest


def _repair(target: Path, new: Path, old: Path) -> None:
    """Undo what an export that did not end has left behind."""
    if old.exists():
        if target.exists():
            shutil.rmtree(old)
        else:
            old.rename(target)
    if new.exists():
        shutil.rmtree(new)


def _hashes(folder: Path) -> dict[str, str]:
    """SHA-256 of every file by its path in the folder."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in files
    }


def analyse(files: Sequence[Path]) -> None:
    """Have GHDL, where it is installed, analyse VHDL files in order.

    Raises:
        RuntimeError: it refuses one.
    """
    ghdl = shutil.which("ghdl")
    if ghdl is None:
        return
    with tempfile.TemporaryDirectory(prefix="merp-") as work:
        done = subprocess.run(
            [ghdl, "-a", "--std=08", f"--workdir={work}", *map(str, files)],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
    if done.returncode:
        raise RuntimeError(f"ghdl refuses the export:\n{done.stderr.strip()[-4000:]}")
