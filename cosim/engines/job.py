"""A job: consecutive runs on one elaboration of a top."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import NamedTuple

from merp.cosim.engines.record import RunRecord
from merp.models.memory.bus_record import MemoryFacts
from merp.testbenches.top.border import Border
from merp.testbenches.top.run import Outcome, Run
from merp.testbenches.top.top import Top
from merp.testbenches.top.wave import Wave

Runs = Generator[Run, RunRecord | None, None]
"""A generator of runs.

Each ``yield`` gives a run and receives its record. Therefore the output of one layer can become the
input of the next.
"""

STUCK_CYCLES = 1 << 16


class Wanted(NamedTuple):
    """A top that an engine builds, and its expected number of cycles; None if unknown."""

    top: Top
    cycles: int | None = None


@dataclass(frozen=True)
class Job:
    """The task of an engine.

    Attributes:
        top: the block and its arguments, elaborated once.
        runs: the runs, without a reset between them.
        wave: the waveform to write, or None.
        limit: cycles without a transfer on any stream after which a run counts as stuck.
        border: the tops that run together with this top, each in a simulation of its own.
        memory: the memory of engine ``system``; None: the narrowest that holds a word of each
            stream.
        wanted: the job's own top and the tops of later jobs, which an engine may build
            concurrently. It is empty if the cycles and the jobs are unknown.
    """

    top: Top
    runs: Sequence[Run] | Runs
    wave: Wave | None = None
    limit: int = STUCK_CYCLES
    border: Border | None = None
    wanted: Sequence[Wanted] = ()
    memory: MemoryFacts | None = None


class Playing:
    """A job that an engine is running: the next run, and the records so far.

    Attributes:
        records: the records of the completed runs.
    """

    def __init__(self, job: Job, engine: str, elaboration_sha: str, began: float) -> None:
        """``began`` is the time at which the engine began to build, from ``perf_counter``."""
        self.records: list[RunRecord] = []
        self._job = job
        self._ports = job.top.ports
        self._engine = engine
        self._sha = elaboration_sha
        self._began = began
        self._build_seconds = 0.0

    def runs(self) -> Iterator[Run]:
        """Yield each run after the outcome of the run before it has been delivered.

        Raises:
            ValueError: a run does not fit the top's ports.
        """
        self._build_seconds = perf_counter() - self._began
        source = self._job.runs
        runs = source if isinstance(source, Generator) else _in_turn(source)
        try:
            run = next(runs)
            while True:
                run.check(self._ports)
                yield run
                run = runs.send(self.records[-1])
        except StopIteration:
            return

    def deliver(self, outcome: Outcome) -> None:
        """Accept the outcome of the latest run."""
        self.records.append(
            RunRecord.of(
                outcome,
                self._ports,
                engine=self._engine,
                elaboration_sha=self._sha,
                build_seconds=self._build_seconds,
            )
        )


def _in_turn(runs: Sequence[Run]) -> Runs:
    """Yield runs that do not depend on each other."""
    for run in runs:  # noqa: UP028 - a list cannot receive values
        yield run
