"""Verilog, read by Verilator without being built."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from merp.cosim.engines.programs.children import run
from merp.cosim.engines.simulators import Verilator

# Operands of unlike width are the style of MyHDL's Verilog; everything else is an error.
_FLAGS = ("--lint-only", "--timing", "-Wno-WIDTHTRUNC", "-Wno-WIDTHEXPAND")


def lint(verilator: Verilator, top: str, files: Sequence[Path], waived: Sequence[str] = ()) -> str:
    """What Verilator has against the module ``top``, but for warnings ``waived``; "" if nothing."""
    flags = [*_FLAGS, *(f"-Wno-{name}" for name in waived)]
    command = [str(verilator.compiler), *flags, "--top-module", top, *map(str, files)]
    done = run(command, env=verilator.environment)
    return done.stderr.strip()[-4000:] if done.returncode else ""
