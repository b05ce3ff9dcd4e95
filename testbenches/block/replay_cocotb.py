"""Cocotb side of ``replay``: drive recorded inputs, and compare every output in every cycle.

The timing is that of ``trace``, from power-up. Inputs change while the clock is low, and samples
are taken just before its rising edge.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import cocotb
from cocotb.triggers import Timer

FOLDER = "MERP_REPLAY_FOLDER"
"""Environment variable: the folder with ``trace.json``, to which ``result.json`` is written."""


@cocotb.test()
async def replay(dut: Any) -> None:
    """Replay until the first difference, and record its cycle and port."""
    folder = Path(os.environ[FOLDER])
    trace = json.loads((folder / "trace.json").read_text(encoding="ascii"))
    names: list[str] = trace["ports"]
    inputs = [(i, getattr(dut, names[i])) for i in trace["inputs"]]
    outputs = [(i, getattr(dut, names[i])) for i in trace["outputs"]]
    clk = dut.clk if trace["clocked"] else None
    result: dict[str, Any] = {"cycles": 0}
    if clk is not None:
        clk.value = 0
    driven: dict[int, str] = {}
    for cycle, row in enumerate(trace["rows"]):
        for i, handle in inputs:
            if driven.get(i) != row[i]:
                driven[i] = row[i]
                handle.value = int(row[i], 2)
        await Timer(5, "ns")
        for i, handle in outputs:
            seen = str(handle.value)
            if seen != row[i]:
                result = {"cycle": cycle, "port": names[i], "expected": row[i], "got": seen}
                break
        if "port" in result:
            break
        result["cycles"] = cycle + 1
        if clk is not None:
            clk.value = 1
        await Timer(5, "ns")
        if clk is not None:
            clk.value = 0
    (folder / "result.json").write_text(json.dumps(result), encoding="ascii")
