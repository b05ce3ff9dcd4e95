"""Run passes on an engine, and audit each pass."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace

from merp.cosim.engines.engine import run_job
from merp.cosim.engines.job import Job, Runs, Wanted
from merp.cosim.engines.names import FREE_RUNNING
from merp.cosim.engines.record import RunRecord
from merp.cosim.phases.audit.audit import Audit, audit
from merp.cosim.phases.audit.waveform import transfers
from merp.cosim.phases.expectation import Expectation, GroupPass
from merp.hdl.base.interface import SOURCE
from merp.hdl.base.signals import BYTE
from merp.models.memory.bus_record import MemoryFacts
from merp.testbenches.top.player import Progress
from merp.testbenches.top.top import Top
from merp.testbenches.top.wave import Wave


@dataclass(frozen=True)
class Audited:
    """The record of a pass and its audit."""

    record: RunRecord
    audit: Audit


Passes = Generator[GroupPass, Audited | None, None]
"""A generator of passes, one at a time. Each ``yield`` gives a pass and receives its results."""


def given(audited: Audited | None) -> Audited:
    """Return the results of the pass that was yielded."""
    assert audited is not None
    return audited


def run_and_audit(
    top: Top,
    passes: Sequence[GroupPass] | Passes,
    engine: str,
    wave: Wave | None = None,
    progress: Progress | None = None,
    wanted: Sequence[Wanted] = (),
    memory: MemoryFacts | None = None,
) -> list[Audited]:
    """Run ``passes`` back to back on one elaboration of ``top``. Without passes nothing is built.

    ``wanted`` and ``memory`` are as in ``Job``. Without ``wanted``, the cycles of ``passes`` are
    estimated, if ``passes`` is a sequence.

    A waveform is complete only after the last pass. Therefore the returned audits include its
    counts, but the results that a generator receives during the run do not.

    Raises:
        BadInput: the engine does not exist, its simulator is not installed, or ``wave`` names an
            unknown instance.
        Stuck: no word moved for too long.
    """
    if not wanted and isinstance(passes, Sequence):
        wanted = [Wanted(top, sum(each.expected.about_cycles for each in passes))]
    source = passes if isinstance(passes, Generator) else _in_turn(passes)
    first = next(source, None)
    if first is None:
        return []
    found: list[tuple[Audited, Expectation]] = []
    runs = _runs(first, source, found, free=engine in FREE_RUNNING)
    run_job(Job(top, runs, wave, wanted=wanted, memory=memory), engine, progress)
    if wave is None:
        return [audited for audited, _ in found]
    streams = top.ports.streams
    lane_bytes = {pin.name: pin.element // BYTE for pin in streams if pin.keep}
    waves = transfers(wave.path, [pin.name for pin in streams], lane_bytes)
    return [
        Audited(audited.record, audit(audited.record, expected, counts))
        for (audited, expected), counts in zip(found, waves, strict=True)
    ]


def _runs(
    first: GroupPass, rest: Passes, found: list[tuple[Audited, Expectation]], *, free: bool
) -> Runs:
    """Yield the run of each pass, audit its record, and send the results to the generator.

    ``free``: memory decides when words arrive, so no cycle count is known in advance.
    """
    each = first
    while True:
        if free:
            each = each._replace(expected=without_cycles(each.expected))
        expected = {port.stream: port.closed_form for port in each.expected.ports.values()}
        outputs = {name: words for name, words in expected.items() if name.startswith(SOURCE)}
        record = yield replace(each.run, outputs=outputs)
        assert record is not None
        found.append((Audited(record, audit(record, each.expected)), each.expected))
        try:
            each = rest.send(found[-1][0])
        except StopIteration:
            return


def without_cycles(expected: Expectation) -> Expectation:
    """Return the expectation of a pass whose words arrive at unknown times."""
    cycles = {counter.name for counter in expected.counters}
    known = {name: value for name, value in expected.known.items() if name not in cycles}
    return replace(expected, known=known)


def _in_turn(passes: Sequence[GroupPass]) -> Passes:
    """Yield passes that do not depend on each other."""
    for each in passes:  # noqa: UP028 - a list cannot receive values
        yield each
