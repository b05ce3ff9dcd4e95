"""The MyHDL engine: MyHDL simulates the design directly. It needs no installation and no build."""

from __future__ import annotations

import hashlib
import inspect
from functools import cache, lru_cache
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
        BadInput: the waveform names an instance that does not exist.
    """
    playing = Playing(job, "myhdl", elaboration_sha(job.top), perf_counter())
    run_top(
        job.top, playing.runs(), playing.deliver, job.limit, job.wave, progress, job.border
    )  # fmt: skip
    return playing.records


def elaboration_sha(top: Top) -> str:
    """Return the fingerprint of an elaboration: block, parameters, arrays, port widths and sources.

    MyHDL elaborates directly from the sources. Therefore the sources replace the netlist, which the
    other engines hash.
    """
    parameters = sorted((key, repr(value)) for key, value in top.parameters.items())
    elaborated = (top.function.__module__, top.name, parameters, top.ports, top.array)
    own = Path(inspect.getsourcefile(inspect.unwrap(top.function)) or top.name)
    found = tuple((source, source.stat().st_mtime_ns) for source in _sources(own))
    return hashlib.sha256(repr(elaborated).encode() + _text(found)).hexdigest()


@cache
def _sources(own: Path) -> list[Path]:
    """Return the possible sources of a design: its own file, and packages of blocks and numbers."""
    folders = (Path(package.__path__[0]) for package in (merp.hdl, merp.models.base))
    return sorted({own, *(path for folder in folders for path in folder.rglob("*.py"))})


@lru_cache(8)
def _text(sources: tuple[tuple[Path, int], ...]) -> bytes:
    """Return names and contents of sources, which have the given modification times."""
    return b"".join(source.name.encode() + b"\0" + source.read_bytes() for source, _ in sources)
