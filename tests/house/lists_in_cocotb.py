"""Cocotb side of random lists on exported hardware.

Inputs change while the clock is low, and samples are taken just before its rising edge. Reading a
pin costs more than a cycle of the hardware, so pins beside a valid are read only with it.
"""

import json
import os
from pathlib import Path
from typing import Any

import cocotb
from cocotb.triggers import Timer
from drawn_lists import DESIGNS, DESIGNS_THAT_LOAD
from list_session import ListSession

FOLDER = "MERP_LISTS_FOLDER"
"""Environment variable: the folder with ``job.json``."""

JOB, RESULT = "job.json", "result.json"


def grouped(outputs: list[str]) -> tuple[list[str], dict[str, list[str]]]:
    """The outputs to read in each cycle, and those to read with a valid, by its name."""
    guards = {name: name.removesuffix("valid") for name in outputs if name.endswith("valid")}
    below: dict[str, list[str]] = {name: [] for name in guards}
    always = list(guards)
    for name in outputs:
        if name in guards:
            continue
        guard = next((each for each, start in guards.items() if name.startswith(start)), "")
        if guard and not name.endswith("ready"):
            below[guard].append(name)
        else:
            always.append(name)
    return always, below


@cocotb.test()
async def lists(dut: Any) -> None:
    """Play the lists of a seed."""
    folder = Path(os.environ[FOLDER])
    job = json.loads((folder / JOB).read_text(encoding="ascii"))
    session = ListSession((DESIGNS | DESIGNS_THAT_LOAD)[job["design"]], job["seed"], job["lists"])
    always, below = grouped(job["outputs"])
    handles = {name: getattr(dut, name) for name in (*job["inputs"], *job["outputs"])}
    always_read = [(name, handles[name]) for name in always]
    then_read = {name: [(each, handles[each]) for each in some] for name, some in below.items()}
    driven = dict.fromkeys(job["inputs"], 0)
    for name in driven:
        handles[name].value = 0
    dut.clk.value = 0
    cycle, seen = 0, dict[str, int]()
    low, high = Timer(5, "ns"), Timer(5, "ns")
    values = dict.fromkeys(job["outputs"], 0)
    while not session.done:
        for name, value in session.drive(cycle, seen).items():
            if driven[name] != value:
                driven[name] = value
                handles[name].value = value
        await low
        for name, handle in always_read:
            values[name] = int(handle.value)
            if values[name] and name in then_read:
                for each, other in then_read[name]:
                    values[each] = int(other.value)
        seen = driven | values
        dut.clk.value = 1
        await high
        dut.clk.value = 0
        cycle += 1
    result = {"cycles": cycle, "counts": session.counts}
    (folder / RESULT).write_text(json.dumps(result), encoding="ascii")
