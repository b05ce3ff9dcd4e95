"""An exported package as its user has it: its manifest, its commands, its scripts for Vivado."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any

from checkout import ROOT
from merp.tools.common.owned import MANIFEST

STUB = ROOT / "tests" / "vivado_stub.tcl"


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
