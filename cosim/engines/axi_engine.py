"""Run a top in its AXI shell: GHDL simulates the exported VHDL, and all accesses use AXI."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from merp.cosim.engines.ghdl_engine import GhdlSimulation, play
from merp.cosim.engines.job import Job
from merp.cosim.engines.programs.scratch import scratch
from merp.cosim.engines.record import RunRecord
from merp.cosim.engines.simulators import check_ghdl
from merp.hdl.conversion.convert import convert
from merp.testbenches.axi.axi_top import axi_top
from merp.testbenches.axi.conduct import Conduct
from merp.testbenches.top.job_files import put
from merp.testbenches.top.top import Top

BENCH = "merp.testbenches.axi.axi_cocotb"
FUZZ = "merp.testbenches.axi.axi_fuzz_cocotb"


def run_axi(job: Job, conducts: Sequence[Conduct] = ()) -> list[RunRecord]:
    """Run ``job`` through the AXI shell of its top. The records equal those of any other engine.

    ``conducts`` holds the disturbances of each run. Without it, the runs are undisturbed.

    Raises:
        BadInput: GHDL or cocotb is not installed.
        Stuck: no word moved for the job's limit of cycles.
        RuntimeError: GHDL rejects the VHDL, or the simulation ends without results.
    """
    shell = axi_top(job.top)
    offsets = {register.name: register.offset for register in shell.args["registers"].registers}
    told = {"offsets": offsets, "conducts": [asdict(each) for each in conducts]}
    return play(job, shell, BENCH, told)


def fuzz_registers(top: Top, accesses: int, seed: int) -> dict[str, Any]:
    """Check at least ``accesses`` random register accesses on ``top`` in its shell.

    Returns a dictionary. ``answered`` is the number of accesses that were compared with the model.
    ``faults`` lists the differences. ``seen`` counts the accesses of each kind. ``parts`` counts
    the resets.

    Raises:
        BadInput: GHDL or cocotb is not installed.
        RuntimeError: GHDL rejects the VHDL, or the simulation ends early.
    """
    check_ghdl()
    shell = axi_top(top)
    told = {
        "accesses": accesses,
        "seed": seed,
        "ports": top.ports.to_json(),
        "registers": asdict(shell.args["registers"]),
    }
    with scratch() as folder:
        vhdl = folder / "vhdl"
        vhdl.mkdir()
        export = convert(shell.function, shell.args, "vhdl", vhdl)
        put(folder / "job.json", told)
        simulation = GhdlSimulation(export.top, export.files, folder, FUZZ)
        with simulation.running():
            return simulation.answer(0)
