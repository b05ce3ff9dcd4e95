"""Exported VHDL, analysed where GHDL is installed."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path


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
