"""A job: runs to play back to back on one elaboration of a top."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import NamedTuple

from merp.cosim.engines.record import RunRecord
from merp.testbenches.top.border import Border
from merp.testbenches.top.run import Outcome, Run
from merp.testbenches.top.top import Top
from merp.testbenches.top.wave import Wave

Runs = Generator[Run, RunRecord | None, None]
"""Runs that are made one at a time: each ``yield`` gives the record of the run that it gave, so
that one layer's output can feed the next."""

STUCK_CYCLES = 1 << 16


class Wanted(NamedTuple):
    """A top that an engine builds, and the cycles that it is expected to run; None if unknown."""

    top: Top
    cycles: int | None = None


@dataclass(frozen=True)
class Job:
    """What an engine is asked to do.

    Attributes:
        top: the block and its arguments, elaborated once.
        runs: the runs, without a reset in between.
        wave: the waveform to leave, or None.
        limit: cycles without a transfer on any stream after which a run counts as stuck.
        border: the tops that run together with this one, each in a simulation of its own.
        wanted: the job's own top, and those of the jobs that follow: an engine may build them all
            at once. Empty where nothing is known of cycles and of jobs.
    """

    top: Top
    runs: Sequence[Run] | Runs
    wave: Wave | None = None
    limit: int = STUCK_CYCLES
    border: Border | None = None
    wanted: Sequence[Wanted] = ()


class Playing:
    """A job while an engine plays it: the next run, and the records so far.

    Attributes:
        records: of the runs that were played.
    """

    def __init__(self, job: Job, engine: str, elaboration_sha: str, began: float) -> None:
        """``began``: when the engine began to build, by ``perf_counter``."""
        self.records: list[RunRecord] = []
        self._job = job
        self._ports = job.top.ports
        self._engine = engine
        self._sha = elaboration_sha
        self._began = began
        self._build_seconds = 0.0

    def runs(self) -> Iterator[Run]:
        """Each run, when the outcome of the one before is there.

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
        """Take the outcome of the run that came last."""
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
    """Runs that do not depend on each other."""
    for run in runs:  # noqa: UP028 - a list has nothing that could be sent to
        yield run
