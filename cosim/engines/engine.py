"""The engines behind one interface: the same job gives the same records on each of them."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Protocol

from merp.cosim.engines.job import Job
from merp.cosim.engines.names import ENGINES
from merp.cosim.engines.record import RunRecord
from merp.cosim.engines.simulators import check_reader
from merp.models.base.errors import BadInput
from merp.models.base.given import given, mention
from merp.testbenches.top.player import Progress
from merp.testbenches.top.wave import KINDS

WAVES = {"myhdl": ("vcd",), "verilator": KINDS, "ghdl": KINDS}
"""The kinds of waveforms that each engine writes."""


class Engine(Protocol):
    """Module of an engine: ``merp.cosim.engines.<name>_engine``."""

    def run_job(self, job: Job, progress: Progress | None) -> list[RunRecord]:
        """Run every run of the job."""


def check_wave(path: Path, engine: str) -> None:
    """Refuse a waveform before anything is built for it.

    Raises:
        BadInput: its suffix is not one of a kind, the engine does not write the kind, or what reads
            it back is not installed.
    """
    kind = path.suffix[1:]
    if kind not in KINDS:
        known = ", ".join(f".{each}" for each in KINDS)
        raise BadInput(f"{given('wave', path)}: is of no known kind: allowed are names in {known}")
    if kind not in WAVES[engine]:
        able = ", ".join(each for each, kinds in WAVES.items() if kind in kinds)
        raise BadInput(
            f"{given('wave', path)}: engine {engine} writes no .{kind}: allowed with {able}"
        )
    check_reader(kind)


def run_job(job: Job, engine: str, progress: Progress | None = None) -> list[RunRecord]:
    """Run ``job`` on ``engine`` and return a record per run.

    ``progress(cycles, words)`` is called now and then, where the engine can.

    Raises:
        BadInput: no such engine, its simulator is not installed, or it cannot write the waveform.
        Stuck: no word moved for the job's limit of cycles.
        ValueError: a run does not fit the top, or its arrays or its border do not fit the engine.
    """
    if engine not in ENGINES:
        raise BadInput(
            f"{mention('engine', engine)}: no such engine, allowed: {', '.join(ENGINES)}"
        )
    if job.wave is not None:
        check_wave(job.wave.path, engine)
    if engine == "ghdl" and job.top.array != "rtl":
        raise ValueError(f"engine ghdl runs the hardware: array must be rtl, not {job.top.array!r}")
    if engine == "ghdl" and job.border is not None:
        raise ValueError("engine ghdl has no wires to other simulations")
    module: Engine = import_module(f"merp.cosim.engines.{engine}_engine")
    return module.run_job(job, progress)
