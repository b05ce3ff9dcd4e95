"""Exported hardware on disk: complete or not there, whatever interrupts.

New files are written and analysed in a folder beside the target, and the folder then takes the
target's place in two renames. Killed between them, both exports are complete under the names of the
two steps, and the next export puts the target back first.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
from pathlib import Path

from merp.hdl.convert import convert
from merp.models.errors import BadInput
from merp.testbenches.top import Top

MANIFEST = "manifest.json"


def export_vhdl(top: Top, directory: Path) -> tuple[Path, ...]:
    """Write the VHDL of ``top`` to ``directory``; its files in compile order.

    GHDL, where it is installed, must accept every entity before anything is replaced. The manifest
    names the top, the files in compile order and their SHA-256; it is written last.

    Raises:
        BadInput: the directory cannot be written, or holds something that no export wrote.
        RuntimeError: GHDL refuses a file.
    """
    target = directory.resolve()
    new = target.with_name(target.name + ".new")
    old = target.with_name(target.name + ".old")
    try:
        _repair(target, new, old)
        if target.exists() and not (target / MANIFEST).is_file():
            if not target.is_dir() or any(target.iterdir()):
                raise BadInput(f"-o {directory}: exists and is no export, give another directory")
        new.mkdir(parents=True)
        export = convert(top.function, top.args, "vhdl", new)
        _analyse(export.files)
        names = [file.name for file in export.files]
        manifest = {
            "top": export.top,
            "parameters": {key: repr(value) for key, value in sorted(top.parameters.items())},
            "instances": dict(sorted(export.instances.items())),
            "files": {name: hashlib.sha256((new / name).read_bytes()).hexdigest()
                      for name in names},
        }  # fmt: skip
        (new / MANIFEST).write_text(json.dumps(manifest, indent=2) + "\n", encoding="ascii")
        if target.exists():
            target.rename(old)
        new.rename(target)
        shutil.rmtree(old, ignore_errors=True)
    except OSError as error:
        raise BadInput(f"-o {directory}: cannot be written: {error.strerror}") from None
    return tuple(target / name for name in names)


def _repair(target: Path, new: Path, old: Path) -> None:
    """Undo what a killed export left behind."""
    if old.exists():
        if target.exists():
            shutil.rmtree(old)
        else:
            old.rename(target)
    if new.exists():
        shutil.rmtree(new)


def _analyse(files: tuple[Path, ...]) -> None:
    """Have GHDL analyse the files in order, where it is installed."""
    ghdl = shutil.which("ghdl")
    if ghdl is None:
        return
    work = files[0].parent / "work"
    work.mkdir()
    done = subprocess.run(
        [ghdl, "-a", "--std=08", f"--workdir={work}", *map(str, files)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    shutil.rmtree(work)
    if done.returncode:
        raise RuntimeError(f"ghdl refuses the export:\n{done.stderr.strip()[-4000:]}")
