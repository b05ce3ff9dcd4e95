"""Check exported files with a simulator, if one is installed."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

from merp.cosim.engines.lint import lint
from merp.cosim.engines.programs.children import run
from merp.cosim.engines.programs.scratch import scratch
from merp.cosim.engines.simulators import find_verilator
from merp.hdl.conversion.convert import Language
from merp.models.base.errors import BadInput


def analyse(language: Language, top: str, files: Sequence[Path], *flags: str) -> None:
    """Let GHDL read VHDL files, or Verilator Verilog files under ``top``, if it is installed.

    ``files`` are in compilation order. Verilator gets further ``flags``.

    Raises:
        RuntimeError: the simulator rejects a file.
    """
    name, refusal = _ghdl(files) if language == "vhdl" else _verilator(top, files, *flags)
    if refusal:
        raise RuntimeError(f"{name} refuses the export:\n{refusal}")


def _ghdl(files: Sequence[Path]) -> tuple[str, str]:
    ghdl = shutil.which("ghdl")
    if ghdl is None:
        return "ghdl", ""
    with scratch() as work:
        done = run([ghdl, "-a", "--std=08", f"--workdir={work}", *map(str, files)])
    return "ghdl", done.stderr.strip()[-4000:] if done.returncode else ""


def _verilator(top: str, files: Sequence[Path], *flags: str) -> tuple[str, str]:
    try:
        verilator = find_verilator()
    except BadInput:  # not installed
        return "verilator", ""
    return "verilator", lint(verilator, top, files, *flags)
