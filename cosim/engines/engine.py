"""The engines behind one interface: the same job gives the same records on each of them."""

from __future__ import annotations

from importlib import import_module
from typing import Protocol

from merp.cosim.engines.job import Job
from merp.cosim.engines.record import Record
from merp.models.errors import BadInput
from merp.testbenches.top.player import Progress

ENGINES = ("myhdl", "verilator", "ghdl")


class Engine(Protocol):
    """Module of an engine: ``merp.cosim.engines.<name>_engine``."""

    def run_job(self, job: Job, progress: Progress | None) -> list[Record]:
        """Run every run of the job."""


def run_job(job: Job, engine: str, progress: Progress | None = None) -> list[Record]:
    """Run ``job`` on ``engine`` and return a record per run.

    ``progress(cycles, words)`` is called now and then, where the engine can.

    Raises:
        BadInput: no such engine, or its simulator is not installed.
        Stuck: no word moved for the job's limit of cycles.
        ValueError: a run does not fit the top, or its arrays do not fit the engine.
    """
    if engine not in ENGINES:
        raise BadInput(f"--engine {engine}: no such engine, allowed: {', '.join(ENGINES)}")
    if engine != "myhdl" and job.top.array != "rtl":
        raise ValueError(f"engine {engine} runs the hardware: array {job.top.array!r} is myhdl's")
    module: Engine = import_module(f"merp.cosim.engines.{engine}_engine")
    return module.run_job(job, progress)
