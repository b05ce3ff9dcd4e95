"""The expected properties of one pass of an engine, in any phase."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from merp.cosim.engines.record import RunRecord
from merp.models.base.bits import Bits
from merp.models.base.counters import COUNTERS, Counter
from merp.models.base.storage import StoredFormat
from merp.testbenches.top.run import Run


@dataclass(frozen=True, kw_only=True)
class ReportedPort:
    """A port of the report.

    Attributes:
        stream: its stream on the top.
        closed_form: words by formula.
        counter: words by walking the schedule.
        word_bytes: bytes of a word.
        maps: whether it carries maps or deltas (count ``maps``).
        golden: expected output, with the dimensions of its maps or kernels, as words on the pins;
            None for an input.
        stored: format of its elements; None: format of the arithmetic, or words of another kind.
        meant: the words of ``golden`` that are compared; None: all. The others may have any value.
    """

    stream: str
    closed_form: int
    counter: int
    word_bytes: int
    maps: bool = False
    golden: Bits | None = None
    stored: StoredFormat | None = None
    meant: NDArray[np.bool_] | None = None


@dataclass(frozen=True, kw_only=True)
class UnitWork:
    """The expected work of the CUs.

    Attributes:
        n_cu: number of CUs, or of MACs of an array.
        issue: number of slots.
        useful: number of slots of single CUs with a useful computation.
        operations: two per multiply-add.
        ideal: number of cycles if every CU were useful in every cycle.
    """

    n_cu: int
    issue: int
    useful: int
    operations: int
    ideal: float


@dataclass(frozen=True, kw_only=True)
class ExpectedHalf:
    """The expectation of a half of a pass whose cycles are counted separately.

    Attributes:
        first: port whose first word starts the count of cycles.
        last: port whose last word ends the count; None if that word crosses no port.
        work: work of its CUs.
    """

    first: str
    last: str | None
    work: UnitWork


@dataclass(frozen=True, kw_only=True)
class Expectation:
    """The expectation of one pass.

    Attributes:
        ports: by name, as the hardware's counters are named.
        first: port whose first word starts the count of cycles; None: the count starts in the cycle
            after the start.
        last: ports; the latest of their last words ends the count.
        loads: ports that must have been read before, in ``kernel_load``. The value is the number of
            cycles after the port's last word. In these cycles the hardware loads the rest of the
            beat, and zeros that are not in memory.
        work: work of the CUs.
        early_end: whether the last word may be output before the last slot.
        counters: cycle counters of the top.
        known: further status counters, with their expected values.
        halves: halves of the pass, by the prefix of their counter names. The other counters have
            the work of one half and the cycles of the whole pass.
    """

    ports: Mapping[str, ReportedPort]
    first: str | None
    last: tuple[str, ...]
    loads: Mapping[str, int]
    work: UnitWork
    early_end: bool = False
    counters: tuple[Counter, ...] = COUNTERS
    known: Mapping[str, int] = field(default_factory=dict)
    halves: Mapping[str, ExpectedHalf] = field(default_factory=dict)

    @property
    def about_cycles(self) -> int:
        """Estimate of the cycles: the slots of the units plus the words of the ports."""
        return self.work.issue + sum(port.counter for port in self.ports.values())


Pair = tuple[Bits, Bits]  # of a layer: kernels and biases


class GroupPass(NamedTuple):
    """One group of one layer in one phase."""

    run: Run
    expected: Expectation


RecordedPasses = Generator[GroupPass, RunRecord, None]
"""A generator of passes, one at a time. Each ``yield`` gives a pass and receives its record."""
