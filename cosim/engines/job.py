"""A job: runs to play back to back on one elaboration of a top."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from merp.cosim.engines.record import Record
from merp.testbenches.top.run import Run
from merp.testbenches.top.top import Top

NextRun = Callable[[Sequence[Record]], Run]
"""Makes a run from the records of the runs before it: how one layer's output feeds the next."""

STUCK_CYCLES = 1 << 16


@dataclass(frozen=True)
class Job:
    """What an engine is asked to do.

    Attributes:
        top: the block and its arguments, elaborated once.
        runs: the runs, without a reset in between.
        vcd: where to write a waveform of the top's ports, or None.
        limit: cycles without a transfer on any stream after which a run counts as stuck.
    """

    top: Top
    runs: Sequence[Run | NextRun]
    vcd: Path | None = None
    limit: int = STUCK_CYCLES

    def run(self, records: Sequence[Record]) -> Run:
        """The run that follows ``records``.

        Raises:
            ValueError: it does not fit the top's ports.
        """
        source = self.runs[len(records)]
        run = source if isinstance(source, Run) else source(records)
        run.check(self.top.ports)
        return run
