"""Replay a MyHDL trace on the exported VHDL or Verilog; lint the exported Verilog.

The trace holds every port of a block at every clock edge (``testbenches/block/trace.py``). The
exported block receives the same inputs. Every output must have the same bits in every cycle from
power-up on. A bit that VHDL leaves undefined counts as a difference.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from merp.cosim.engines.cocotb_run import CocotbTests, simulator
from merp.cosim.engines.lint import lint
from merp.cosim.engines.simulators import NO_REWRITING, find_verilator
from merp.hdl.conversion.convert import Export, convert
from merp.testbenches.block.replay_cocotb import FOLDER
from merp.testbenches.block.trace import Trace

BENCH = "merp.testbenches.block.replay_cocotb"


def replay(trace: Trace, workdir: Path, engine: str = "ghdl") -> int:
    """Export the block of ``trace``, run the trace on it, and return the number of compared cycles.

    Args:
        trace: result of ``run_block``.
        workdir: folder for the exported files, the logs and the files of the simulator.
        engine: ``ghdl`` simulates the VHDL, ``verilator`` the Verilog (two-valued).

    Raises:
        AssertionError: an output differs. The message has port, cycle, expected and seen bits of
            the first difference.
        BadInput: the engine does not exist, or the simulator or cocotb is not installed.
        RuntimeError: the simulator rejects the exported block, or the test does not run to its end.
    """
    _require(bool(trace.rows), "an empty trace proves nothing")
    run, language = simulator(engine)
    workdir.mkdir(parents=True, exist_ok=True)
    export = convert(trace.block, trace.args, language, workdir)
    (workdir / "trace.json").write_text(json.dumps(_plain(trace, export)), encoding="ascii")
    (workdir / "result.json").unlink(missing_ok=True)
    run(export, workdir, CocotbTests(BENCH, {FOLDER: str(workdir.resolve()), **NO_REWRITING}))
    result = json.loads((workdir / "result.json").read_text(encoding="ascii"))
    if "port" in result:
        width = len(result["expected"])
        raise AssertionError(
            f"{export.top}.{result['port']} ({width} bits), cycle {result['cycle']}: "
            f"expected {_shown(result['expected'])}, got {_shown(result['got'])}"
        )
    cycles = int(result["cycles"])
    _require(cycles == len(trace.rows), f"{cycles} of {len(trace.rows)} cycles were compared")
    return cycles


def _require(holds: bool, otherwise: str) -> None:
    """Check like ``assert``, but also under ``python -O``."""
    if not holds:
        raise AssertionError(otherwise)


def _shown(bits: str) -> str:
    return f"0x{int(bits, 2):x}" if set(bits) <= set("01") else f'"{bits}"'


def _plain(trace: Trace, export: Export) -> dict[str, Any]:
    """Return the trace in the form that the cocotb test reads: values are strings of bits."""
    known = {port.argument: port.name for port in export.ports}
    missing = known.keys() - {"clk"} ^ {port.name for port in trace.ports}
    _require(not missing, f"ports of trace and entity differ: {', '.join(sorted(missing))}")
    names = [known[port.name] for port in trace.ports]
    for port, name in zip(trace.ports, names, strict=True):
        if port.is_input and name in export.outputs:
            raise AssertionError(f"the trace drives {port.name}, which {export.top} drives as well")
    outputs = [i for i, name in enumerate(names) if name in export.outputs]
    _require(bool(outputs), f"{export.top} has no output to compare")
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


def lint_verilog(
    function: Callable[..., Any], args: Mapping[str, object], workdir: Path
) -> tuple[Path, ...]:
    """Export ``function(**args)`` to Verilog, lint it with Verilator, and return the files.

    Raises:
        AssertionError: Verilator reports an error, or a warning that is not about widths.
        BadInput: Verilator is not installed.
    """
    verilator = find_verilator()
    export = convert(function, args, "verilog", workdir)
    refusal = lint(verilator, export.top, export.files)
    _require(not refusal, f"verilator on {export.top}: {refusal}")
    return export.files
