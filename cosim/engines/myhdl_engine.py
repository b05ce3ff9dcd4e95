"""The MyHDL engine: the design itself, simulated by MyHDL; nothing to install, nothing to build."""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter

import merp.hdl
import merp.models.params
from merp.cosim.engines.job import Job
from merp.cosim.engines.record import Record
from merp.testbenches.top.player import Progress
from merp.testbenches.top.run import Outcome, Run
from merp.testbenches.top.top import Top
from merp.testbenches.top.top_bench import run_top


def run_job(job: Job, progress: Progress | None = None) -> list[Record]:
    """Run every run of the job on one MyHDL elaboration."""
    records: list[Record] = []
    ports = job.top.ports
    sha = elaboration_sha(job.top)
    began = perf_counter()
    started: float | None = None

    def runs() -> Iterator[Run]:
        nonlocal started
        started = perf_counter()
        for _ in job.runs:
            yield job.run(records)

    def deliver(outcome: Outcome) -> None:
        assert started is not None
        build = started - began
        record = Record.of(outcome, ports, engine="myhdl", elaboration_sha=sha, build_seconds=build)
        records.append(record)

    run_top(job.top, runs(), deliver, job.limit, job.vcd, progress)
    return records


def elaboration_sha(top: Top) -> str:
    """Fingerprint of an elaboration: block, parameters, port widths, and the hardware's sources.

    MyHDL elaborates from the sources directly, so they stand for the netlist that the other
    engines hash.
    """
    digest = hashlib.sha256()
    parameters = sorted((key, repr(value)) for key, value in top.parameters.items())
    digest.update(repr((top.function.__module__, top.name, parameters, top.ports)).encode())
    sources = {Path(inspect.getsourcefile(inspect.unwrap(top.function)) or top.name)}
    for package in (merp.hdl, merp.models.params):
        sources |= set(Path(package.__path__[0]).rglob("*.py"))
    for source in sorted(sources):
        digest.update(source.name.encode() + b"\0" + source.read_bytes())
    return digest.hexdigest()
