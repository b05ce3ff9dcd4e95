"""The cocotb bench of a top in its AXI shell: a test that plays the runs of a job folder.

It works as ``top_cocotb``. In addition, ``job.json`` contains ``offsets`` (addresses by name) and
``conducts`` (by run).
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict
from pathlib import Path
from typing import Any

import cocotb

from merp.testbenches.axi.axi_bench import AxiBench
from merp.testbenches.axi.conduct import Conduct
from merp.testbenches.top.job_files import FOLDER, put
from merp.testbenches.top.run import Stuck
from merp.testbenches.top.top import TopPorts
from merp.testbenches.top.top_cocotb import runs_of


@cocotb.test()
async def play_job(dut: Any) -> None:
    """Play every run of the job and write its outcome."""
    folder = Path(os.environ[FOLDER])
    job = json.loads((folder / "job.json").read_text(encoding="ascii"))
    dut.aclk.value = 0
    conducts = [Conduct(**plain) for plain in job["conducts"]]
    bench = AxiBench(dut, TopPorts.from_json(job["ports"]), job["offsets"], job["limit"])
    cocotb.start_soon(bench.clock())
    try:
        await bench.reset()
        for index, run in enumerate(runs_of(folder)):
            outcome = await bench.play(run, conducts[index] if conducts else Conduct())
            put(folder / f"outcome{index}.json", asdict(outcome))
    except Exception as error:
        status = error.status if isinstance(error, Stuck) else None
        put(folder / "error.json", {"stuck": status, "text": str(error)})
        raise
