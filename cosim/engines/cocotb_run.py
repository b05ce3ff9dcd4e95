"""Run cocotb tests on exported hardware in GHDL or Verilator.

The exit status of the cocotb runner is not sufficient. The runner also succeeds if a test fails or
if it finds no test. Therefore this module reads the results file, which must list the expected
number of executed tests.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Protocol
from xml.etree import ElementTree

from merp.cosim.engines.cocotb_runner import runner_in
from merp.cosim.engines.programs.children import Children
from merp.cosim.engines.simulators import (
    Verilator,
    check_cocotb,
    check_ghdl,
    check_ghdl_log,
    find_verilator,
)
from merp.cosim.engines.verilator_runtime import Runtime, model_flags
from merp.hdl.conversion.convert import Language
from merp.models.base.errors import BadInput

_STANDARD = "--std=08"
_VERILATOR_FLAGS = (
    "-Wno-lint", "-Wno-style",  # ``lint_verilog`` reports these
    "-Wno-SYMRSVDWORD",  # the runner can access a port of any name
    # ports only, because the runner asks for all signals
    "--no-public-flat-rw", "--public-depth", "1",
)  # fmt: skip
# The wheel's makefile names the compiler and the Python of the machine that built the wheel.
_MAKE = ("CXX=g++", "LINK=g++", "CFG_CXXFLAGS_PCH_I=-include", "CFG_GCH_IF_CLANG=")


class Exported(Protocol):
    """Exported hardware: its files in compilation order and the name of its top."""

    @property
    def files(self) -> Sequence[Path]:
        """All files, with their paths."""

    @property
    def top(self) -> str:
        """Name of the entity or module."""


@dataclass(frozen=True)
class CocotbTests:
    """A test module, the environment variables that it reads, and its number of tests."""

    module: str
    environment: Mapping[str, str]
    count: int = 1


class CocotbFailed(RuntimeError):
    """A test failed. The message names the test and gives the reason."""


Simulator = Callable[[Exported, Path, CocotbTests], None]


def simulator(engine: str) -> tuple[Simulator, Language]:
    """Return the cocotb runner for ``engine`` and the language of its sources.

    Raises:
        BadInput: the engine does not exist, or it or cocotb is not installed.
    """
    if engine == "ghdl":
        check_ghdl()
        return _ghdl, "vhdl"
    if engine == "verilator":
        check_cocotb("verilator")
        verilator = find_verilator()
        return partial(_verilator, verilator), "verilog"
    raise BadInput(f"engine {engine!r}: no such engine, allowed: ghdl, verilator")


def _ghdl(export: Exported, workdir: Path, tests: CocotbTests) -> None:
    # GHDL needs one folder for the build and the test.
    log = _run(
        "ghdl", export, workdir, workdir, tests,
        build={"build_args": [_STANDARD]},
        run={
            "hdl_toplevel_lang": "vhdl",
            "test_args": [_STANDARD],
            # inputs are undefined before the first clock edge
            "plusargs": ["--ieee-asserts=disable-at-0"],
        },
    )  # fmt: skip
    check_ghdl_log(log)


def _verilator(verilator: Verilator, export: Exported, workdir: Path, tests: CocotbTests) -> None:
    runtime, objects = Runtime(verilator, ("--vpi",)), workdir / "obj"
    objects.mkdir(exist_ok=True)
    runtime.lend(objects)
    with _on_path(verilator):
        _run(
            "verilator", export, workdir, objects, tests,
            build={"build_args": list(_VERILATOR_FLAGS)}, run={},
        )  # fmt: skip
    runtime.keep(objects)


@contextmanager
def _on_path(verilator: Verilator) -> Iterator[None]:
    """Set the compiler and make's variables in the environment, where the runner reads them."""
    before = dict(os.environ)
    os.environ |= {
        "VERILATOR_ROOT": str(verilator.root),
        "PATH": os.pathsep.join([str(verilator.compiler.parent), before.get("PATH", "")]),
        "MAKEFLAGS": " ".join((*_MAKE, *model_flags("O0"), f"PYTHON3={sys.executable}")),
    }
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def _run(
    name: str,
    export: Exported,
    workdir: Path,
    build_dir: Path,
    tests: CocotbTests,
    build: dict[str, Any],
    run: dict[str, Any],
) -> Path:
    """Build and run the tests. Return the log."""
    from cocotb_tools.runner import get_runner

    log, results = workdir / f"{name}.log", workdir.resolve() / "results.xml"
    with Children() as children:
        runner = runner_in(children, get_runner(name))
        try:
            runner.build(
                sources=list(export.files),
                hdl_toplevel=export.top,
                build_dir=build_dir,
                always=True,
                log_file=log,
                **build,
            )
        except (RuntimeError, SystemExit) as error:
            raise RuntimeError(f"{name} failed on {export.top}: {_tail(log)}") from error
        # The runner also exits if a simulation or, under pytest, a test fails. The results show
        # which.
        with suppress(RuntimeError, SystemExit):
            runner.test(
                test_module=tests.module,
                hdl_toplevel=export.top,
                build_dir=build_dir,
                test_dir=workdir,
                extra_env={**tests.environment, "COCOTB_ANSI_OUTPUT": "0"},
                results_xml=str(results),
                log_file=log,
                **run,
            )
    _check(results, tests, f"{name} on {export.top}", log)
    return log


def _check(results: Path, tests: CocotbTests, where: str, log: Path) -> None:
    """Read the results of a simulation.

    Raises:
        CocotbFailed: a test failed.
        RuntimeError: the simulation ended before all tests were complete.
    """
    if not results.is_file():
        raise RuntimeError(f"{where}: the simulation ended without results: {_tail(log)}")
    cases = [
        case
        for case in ElementTree.parse(results).getroot().iter("testcase")
        if case.find("skipped") is None
    ]
    failed = {str(case.get("name")): said for case in cases if (said := _failure(case)) is not None}
    if failed:
        counts = f"{len(failed)} of {len(cases)} cocotb tests failed"
        reasons = "".join(f"\n{name}: {said}" for name, said in failed.items())
        raise CocotbFailed(f"{where}: {counts}: {', '.join(failed)}{reasons}\n{_tail(log)}")
    if len(cases) != tests.count or not cases:
        raise RuntimeError(
            f"{where}: {len(cases)} cocotb tests were run, {tests.count} expected: {_tail(log)}"
        )


def _failure(case: ElementTree.Element) -> str | None:
    """Return the reason for a failed test, from its exception; None if the test passed."""
    for kind in ("failure", "error"):
        element = case.find(kind)
        if element is not None:
            return element.get("message") or ""
    return None


def _tail(log: Path) -> str:
    return log.read_text(errors="replace")[-4000:] if log.exists() else "no log"
