"""Runs of a top in its AXI shell: the exported VHDL in GHDL, reached through AXI alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from merp.cosim.ghdl_engine import play
from merp.cosim.job import Job
from merp.cosim.record import Record
from merp.testbenches.axi_run import axi_top

BENCH = "merp.testbenches.axi_cocotb"
Pauses = Mapping[str, Sequence[int]]
"""Pattern by channel of AXI4-Lite (aw, w, b, ar, r): 1 to go on, 0 to pause."""


def run_axi(job: Job, pauses: Sequence[Pauses] = ()) -> list[Record]:
    """Run ``job`` through the AXI shell of its top; the records are those of any engine.

    ``pauses``: of the register accesses of each run; none where it is left out.

    Raises:
        BadInput: GHDL or cocotb is not installed.
        Stuck: no word moved for the job's limit of cycles.
        RuntimeError: GHDL refuses the VHDL, or the simulation ends without its outcomes.
    """
    shell = axi_top(job.top)
    offsets = {register.name: register.offset for register in shell.args["registers"].registers}
    told = {"offsets": offsets, "pauses": [*pauses] or [{}] * len(job.runs)}
    return play(job, shell, BENCH, told)
