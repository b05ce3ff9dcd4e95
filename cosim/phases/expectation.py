"""What is known beforehand of one pass of an engine, whatever its phase."""

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
        closed_form, counter: words by formula and by walking the schedule.
        word_bytes: bytes of a word. maps: whether it carries maps or deltas (count ``maps``).
        golden: what must leave on it, in the shape of its maps or kernels, as words on the pins;
            None for an input.
        stored: format of its elements; None: that of the arithmetic, or words of another kind.
        meant: which words of ``golden`` mean something; None: all. The others may be any.
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
    """What the CUs must do.

    Attributes:
        n_cu: CUs, or MACs of an array. issue: slots. useful: slots of single CUs that compute
            something.
        operations: two per multiply-add. ideal: cycles with every CU useful in each.
    """

    n_cu: int
    issue: int
    useful: int
    operations: int
    ideal: float


@dataclass(frozen=True, kw_only=True)
class ExpectedHalf:
    """What a half of a pass must do whose cycles are counted apart.

    Attributes:
        first: port whose first word starts the count of cycles. last: port whose last word ends it;
            None where that crosses no port.
        work: of its CUs.
    """

    first: str
    last: str | None
    work: UnitWork


@dataclass(frozen=True, kw_only=True)
class Expectation:
    """What one pass must do.

    Attributes:
        ports: by name, as the hardware's counters are named.
        first: port whose first word starts the count of cycles; None: the cycle after the start
            does. last: ports, the last word of which ends it.
        loads: ports that must have been read before, in ``kernel_load``, and the cycles after
            their last word in which the rest of its beat is loaded, and zeros that memory does not
            hold.
        work: of the CUs.
        early_end: the last word may leave before the last slot.
        counters: of cycles, that the top has. known: further counters of status, and what they
            must hold.
        halves: of the pass, by what the names of their counters begin with; in the other counters
            there is one half's work, and the whole pass.
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
        """An estimate of the cycles: one for each slot of the units, and each word of a port."""
        return self.work.issue + sum(port.counter for port in self.ports.values())


Pair = tuple[Bits, Bits]  # of a layer: of its kernels, of its biases


class GroupPass(NamedTuple):
    """One group of one layer in one phase."""

    run: Run
    expected: Expectation


RecordedPasses = Generator[GroupPass, RunRecord, None]
"""Passes that are made one at a time: each ``yield`` gives the record of the pass that it gave."""
