"""The engines behind one interface: the same job gives the same records on each engine."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Protocol

from merp.cosim.engines.job import Job
from merp.cosim.engines.names import ENGINES, RTL_ONLY
from merp.cosim.engines.record import RunRecord
from merp.cosim.engines.simulators import check_reader
from merp.models.base.errors import BadInput
from merp.models.base.given import given, mention
from merp.testbenches.top.player import Progress
from merp.testbenches.top.wave import KINDS

MODULES = {
    **{name: f"merp.cosim.engines.{name}_engine" for name in ENGINES},
    "system": "merp.cosim.board.system_engine",
}
"""The module of each engine."""

WAVES = {"myhdl": ("vcd",), "verilator": KINDS, "ghdl": KINDS, "system": ()}
"""The waveform formats that each engine writes."""


class Engine(Protocol):
    """Interface of an engine module: ``merp.cosim.engines.<name>_engine``."""

    def run_job(self, job: Job, progress: Progress | None) -> list[RunRecord]:
        """Run every run of the job."""


def check_wave(path: Path, engine: str) -> None:
    """Check a waveform file name before anything is built for it.

    Raises:
        BadInput: the suffix names no known format, the engine does not write this format, or the
            package that reads the format back is not installed.
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

    ``progress(cycles, words)`` is called from time to time, if the engine supports it.

    Raises:
        BadInput: the engine does not exist, its simulator is not installed, or it cannot write the
            waveform.
        Stuck: no word moved for the job's limit of cycles.
        ValueError: a run does not fit the top, or the engine does not support the job's arrays or
            border.
    """
    if engine not in ENGINES:
        raise BadInput(
            f"{mention('engine', engine)}: no such engine, allowed: {', '.join(ENGINES)}"
        )
    if job.wave is not None:
        check_wave(job.wave.path, engine)
    if engine in RTL_ONLY and job.top.array != "rtl":
        raise ValueError(
            f"engine {engine} runs the hardware: array must be rtl, not {job.top.array!r}"
        )
    if engine == "ghdl" and job.border is not None:
        raise ValueError("engine ghdl cannot be connected to other simulations")
    if engine == "system" and job.border is not None:
        raise BadInput("engine system cannot be connected to other simulations")
    module: Engine = import_module(MODULES[engine])
    return module.run_job(job, progress)
