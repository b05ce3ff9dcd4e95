"""Replay a MyHDL trace on the exported VHDL in GHDL; lint the exported Verilog.

The trace holds every port of a block at every clock edge (``testbenches/block/trace.py``). The same
inputs go to the block's VHDL, and every output has to have the same bits in every cycle, from
power-up on: a bit that VHDL leaves undefined is a difference.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from merp.cosim.engines.simulators import check_ghdl, check_ghdl_log, find_verilator
from merp.hdl.conversion.convert import Export, convert
from merp.testbenches.block.replay_cocotb import FOLDER
from merp.testbenches.block.trace import Trace

_STANDARD = "--std=08"
# Operands of unlike width are the style of MyHDL's Verilog; everything else is an error.
_LINT = ("--lint-only", "-Wno-WIDTHTRUNC", "-Wno-WIDTHEXPAND")


def replay(trace: Trace, workdir: Path) -> int:
    """Export the block of ``trace``, run the trace on it in GHDL; the number of compared cycles.

    Raises:
        AssertionError: an output differs; port, cycle, expected and seen bits of the first one.
        BadInput: GHDL or cocotb is not installed.
        RuntimeError: GHDL refuses the VHDL, or does not run the test to its end.
    """
    check_ghdl()
    assert trace.rows, "an empty trace proves nothing"
    workdir.mkdir(parents=True, exist_ok=True)
    export = convert(trace.block, trace.args, "vhdl", workdir)
    (workdir / "trace.json").write_text(json.dumps(_plain(trace, export)), encoding="ascii")
    _simulate(export, workdir)
    result = json.loads((workdir / "result.json").read_text(encoding="ascii"))
    if "port" in result:
        width = len(result["expected"])
        raise AssertionError(
            f"{export.top}.{result['port']} ({width} bits), cycle {result['cycle']}: "
            f"expected {_shown(result['expected'])}, got {_shown(result['got'])}"
        )
    cycles = int(result["cycles"])
    assert cycles == len(trace.rows), f"{cycles} of {len(trace.rows)} cycles were compared"
    return cycles


def _shown(bits: str) -> str:
    return f"0x{int(bits, 2):x}" if set(bits) <= set("01") else f'"{bits}"'


def _plain(trace: Trace, export: Export) -> dict[str, Any]:
    """The trace as the cocotb test reads it: values as strings of bits."""
    names = [port.name for port in trace.ports]
    missing = {*export.inputs, *export.outputs} - {"clk"} ^ set(names)
    assert not missing, f"ports of trace and entity differ: {', '.join(sorted(missing))}"
    for port in trace.ports:
        if port.is_input and port.name in export.outputs:
            raise AssertionError(f"the trace drives {port.name}, which {export.top} drives as well")
    outputs = [i for i, name in enumerate(names) if name in export.outputs]
    assert outputs, f"{export.top} has no output to compare"
    widths = [port.width for port in trace.ports]
    return {
        "ports": names,
        "clocked": "clk" in export.inputs,
        "inputs": [i for i, name in enumerate(names) if name in export.inputs],
        "outputs": outputs,
        "rows": [
            [f"{value:0{width}b}" for value, width in zip(row, widths, strict=True)]
            for row in trace.rows
        ],
    }


def _simulate(export: Export, workdir: Path) -> None:
    """Build and run; trust the results file, not the runner's exit status."""
    from cocotb_tools.check_results import get_results
    from cocotb_tools.runner import get_runner

    runner = get_runner("ghdl")
    log = workdir / "ghdl.log"
    (workdir / "result.json").unlink(missing_ok=True)
    try:
        # With GHDL the build folder and the test folder have to be one.
        runner.build(
            sources=list(export.files),
            hdl_toplevel=export.top,
            build_dir=workdir,
            build_args=[_STANDARD],
            always=True,
            log_file=log,
        )
        results = runner.test(
            test_module="merp.testbenches.block.replay_cocotb",
            hdl_toplevel=export.top,
            hdl_toplevel_lang="vhdl",
            build_dir=workdir,
            test_dir=workdir,
            test_args=[_STANDARD],
            plusargs=["--ieee-asserts=disable-at-0"],  # inputs are undefined until the first one
            extra_env={FOLDER: str(workdir.resolve()), "COCOTB_ANSI_OUTPUT": "0"},
            log_file=log,
        )
    except (RuntimeError, SystemExit) as error:
        raise RuntimeError(f"ghdl failed on {export.top}: {_tail(log)}") from error
    tests, failed = get_results(results)
    if (tests, failed) != (1, 0):
        raise RuntimeError(f"{failed} of {tests} cocotb tests failed, 1 must pass: {_tail(log)}")
    check_ghdl_log(log)


def lint_verilog(
    function: Callable[..., Any], args: Mapping[str, object], workdir: Path
) -> tuple[Path, ...]:
    """Export ``function(**args)`` to Verilog and have Verilator check it; the files.

    Raises:
        AssertionError: Verilator reports an error or a warning other than on widths.
        BadInput: Verilator is not installed.
    """
    verilator = find_verilator()
    export = convert(function, args, "verilog", workdir)
    files = [str(file) for file in export.files]
    checked = subprocess.run(
        [str(verilator.compiler), *_LINT, "--top-module", export.top, *files],
        env=verilator.environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert checked.returncode == 0, f"verilator on {export.top}: {checked.stderr[-4000:]}"
    return export.files


def _tail(log: Path) -> str:
    return log.read_text(errors="replace")[-4000:] if log.exists() else "no log"
