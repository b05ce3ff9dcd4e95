"""Verilog, read by Verilator without being built."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from merp.cosim.engines.programs.children import run
from merp.cosim.engines.simulators import Verilator


def lint(verilator: Verilator, top: str, files: Sequence[Path], *flags: str) -> str:
    """What Verilator has against the module ``top``, warnings included; "" if nothing.

    Args:
        flags: more of them, such as ``-Wall``.
    """
    command = [str(verilator.compiler), "--lint-only", "--timing", *flags, "--top-module", top]
    command += map(str, files)
    done = run(command, env=verilator.environment)
    return done.stderr.strip()[-4000:] if done.returncode else ""
