"""The MyHDL engine: the design itself, simulated by MyHDL; nothing to install, nothing to build."""

from __future__ import annotations

import hashlib
import inspect
from pathlib import Path
from time import perf_counter

import merp.hdl
import merp.models.base
from merp.cosim.engines.job import Job, Playing
from merp.cosim.engines.record import RunRecord
from merp.testbenches.top.player import Progress
from merp.testbenches.top.top import Top
from merp.testbenches.top.top_bench import run_top


def run_job(job: Job, progress: Progress | None = None) -> list[RunRecord]:
    """Run every run of the job on one MyHDL elaboration.

    Raises:
        BadInput: the waveform is of an instance that is not there.
    """
    playing = Playing(job, "myhdl", elaboration_sha(job.top), perf_counter())
    run_top(
        job.top, playing.runs(), playing.deliver, job.limit, job.wave, progress, job.border
    )  # fmt: skip
    return playing.records


def elaboration_sha(top: Top) -> str:
    """Fingerprint of an elaboration: block, parameters, arrays, port widths, and the sources.

    MyHDL elaborates from the sources directly, so they stand for the netlist that the other
    engines hash.
    """
    digest = hashlib.sha256()
    parameters = sorted((key, repr(value)) for key, value in top.parameters.items())
    elaborated = (top.function.__module__, top.name, parameters, top.ports, top.array)
    digest.update(repr(elaborated).encode())
    sources = {Path(inspect.getsourcefile(inspect.unwrap(top.function)) or top.name)}
    for package in (merp.hdl, merp.models.base):
        sources |= set(Path(package.__path__[0]).rglob("*.py"))
    for source in sorted(sources):
        digest.update(source.name.encode() + b"\0" + source.read_bytes())
    return digest.hexdigest()
