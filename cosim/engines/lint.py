"""Lint Verilog with Verilator, without building it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from merp.cosim.engines.programs.children import run
from merp.cosim.engines.simulators import Verilator


def lint(verilator: Verilator, top: str, files: Sequence[Path], *flags: str) -> str:
    """Return Verilator's errors and warnings about the module ``top``; "" if there are none.

    Args:
        flags: further flags, such as ``-Wall``.
    """
    command = [str(verilator.compiler), "--lint-only", "--timing", *flags, "--top-module", top]
    command += map(str, files)
    done = run(command, env=verilator.environment)
    return done.stderr.strip()[-4000:] if done.returncode else ""
