"""Cocotb side of an accelerator on a simple memory: one ring of its host, until its interrupt.

Inputs change while the clock is low, and samples are taken just before its rising edge.
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict
from pathlib import Path
from typing import Any

import cocotb
from cocotb.triggers import Timer

from merp.models.memory.params.memory_port import MemoryPort
from merp.testbenches.memory.axi_memory import AxiMemory, Conduct
from merp.testbenches.memory.board_bench import BoardBench

FOLDER = "MERP_BOARD_FOLDER"
"""Environment variable: the folder with ``job.json`` and ``memory.bin``."""

JOB, MEMORY, RESULT = "job.json", "memory.bin", "result.json"


@cocotb.test()
async def ring(dut: Any) -> None:
    """Run until the host is done, or for the limit of cycles."""
    folder = Path(os.environ[FOLDER])
    job = json.loads((folder / JOB).read_text(encoding="ascii"))
    data = bytearray((folder / MEMORY).read_bytes())
    memory = AxiMemory(MemoryPort(**job["port"]), data, Conduct(**job["conduct"]), job["seed"])
    bench = BoardBench(memory, [(at, word) for at, word in job["writes"]], job["reads"])
    outputs = [(name, getattr(dut, name)) for name in job["outputs"]]
    inputs = {name: getattr(dut, name) for name in job["inputs"]}
    driven = dict.fromkeys(inputs, 0)
    for handle in inputs.values():
        handle.value = 0
    dut.clk.value = 0
    cycle, seen = 0, dict[str, int]()
    while not bench.done and cycle < job["limit"]:
        for name, value in bench.drive(cycle, seen).items():
            if driven[name] != value:
                driven[name] = value
                inputs[name].value = value
        await Timer(5, "ns")
        if cycle >= job["settled"]:  # before, outputs can be undefined
            seen = driven | {name: int(handle.value) for name, handle in outputs}
        dut.clk.value = 1
        await Timer(5, "ns")
        dut.clk.value = 0
        cycle += 1
    (folder / MEMORY).write_bytes(data)
    result = {
        "done": bench.done, "cycles": cycle, "found": list(bench.found.items()),
        "faults": bench.rules.faults, "strobed": bench.strobed, "bytes": bench.rules.bytes,
        "bursts": {way: list(bench.bursts(way).items()) for way in ("read", "write")},
        "passes": [asdict(each) for each in bench.passes],
    }  # fmt: skip
    (folder / RESULT).write_text(json.dumps(result), encoding="ascii")
