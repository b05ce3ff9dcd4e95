"""The cocotb bench of a whole top: a test that plays the runs of a job folder.

``job_files`` describes the files of the job folder.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from dataclasses import asdict
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import cocotb
from cocotb.triggers import Timer

from merp.testbenches.top.job_files import FOLDER, POLL_SECONDS, put, run_from_json
from merp.testbenches.top.pins import reader
from merp.testbenches.top.player import player
from merp.testbenches.top.run import Outcome, Run, Stuck
from merp.testbenches.top.top import TopPorts


def runs_of(folder: Path) -> Iterator[Run]:
    """Yield the runs of a job as soon as their files appear."""
    for index in count():
        path = folder / f"run{index}.json"
        while not path.exists():
            if (folder / "stop").exists():
                raise RuntimeError("nobody waits for this simulation any more")
            time.sleep(POLL_SECONDS)
        plain = json.loads(path.read_text(encoding="ascii"))
        if plain is None:
            return
        yield run_from_json(plain)


@cocotb.test()
async def play_job(dut: Any) -> None:
    """Play every run of the job and write its outcome."""
    folder = Path(os.environ[FOLDER])
    job = json.loads((folder / "job.json").read_text(encoding="ascii"))
    ports = TopPorts.from_json(job["ports"])
    written = 0

    def deliver(outcome: Outcome) -> None:
        nonlocal written
        put(folder / f"outcome{written}.json", asdict(outcome))
        written += 1

    play = player(ports, partial(reader, dut), runs_of(folder), deliver, job["limit"])
    dut.clk.value = 0
    try:
        changes = next(play, None)
        while changes is not None:
            for name, value in changes.items():
                getattr(dut, name).value = value
            await Timer(5, "ns")
            changes = next(play, None)  # samples this cycle before its edge
            dut.clk.value = 1
            await Timer(5, "ns")
            dut.clk.value = 0
    except Exception as error:
        status = error.status if isinstance(error, Stuck) else None
        put(folder / "error.json", {"stuck": status, "text": str(error)})
        raise
