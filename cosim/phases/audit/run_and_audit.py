"""Run passes on an engine, and audit each."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass

from merp.cosim.engines.engine import run_job
from merp.cosim.engines.job import Job, Runs, Wanted
from merp.cosim.engines.record import RunRecord
from merp.cosim.phases.audit.audit import Audit, audit
from merp.cosim.phases.audit.waveform import transfers
from merp.cosim.phases.expectation import Expectation, GroupPass
from merp.hdl.base.signals import BYTE
from merp.testbenches.top.player import Progress
from merp.testbenches.top.top import Top
from merp.testbenches.top.wave import Wave


@dataclass(frozen=True)
class Audited:
    """What a pass did, and what was found wrong with it."""

    record: RunRecord
    audit: Audit


Passes = Generator[GroupPass, Audited | None, None]
"""Passes that are made one at a time: each ``yield`` gives what the pass that it gave did."""


def given(audited: Audited | None) -> Audited:
    """What became of the pass that was yielded."""
    assert audited is not None
    return audited


def run_and_audit(
    top: Top,
    passes: Sequence[GroupPass] | Passes,
    engine: str,
    wave: Wave | None = None,
    progress: Progress | None = None,
    wanted: Sequence[Wanted] = (),
) -> list[Audited]:
    """Run ``passes`` back to back on one elaboration of ``top``; nothing is built for none.

    ``wanted`` is that of the ``Job``; without it the cycles of ``passes`` are estimated, if all of
    them are there.

    A waveform is complete only after the last pass: its counts are in what is returned, not in what
    a pass learns of the one before.

    Raises:
        BadInput: no such engine, its simulator is not installed, or ``wave`` is of no instance.
        Stuck: no word moved for too long.
    """
    if not wanted and isinstance(passes, Sequence):
        wanted = [Wanted(top, sum(each.expected.about_cycles for each in passes))]
    source = passes if isinstance(passes, Generator) else _in_turn(passes)
    first = next(source, None)
    if first is None:
        return []
    found: list[tuple[Audited, Expectation]] = []
    run_job(Job(top, _runs(first, source, found), wave, wanted=wanted), engine, progress)
    if wave is None:
        return [audited for audited, _ in found]
    streams = top.ports.streams
    lane_bytes = {pin.name: pin.element // BYTE for pin in streams if pin.keep}
    waves = transfers(wave.path, [pin.name for pin in streams], lane_bytes)
    return [
        Audited(audited.record, audit(audited.record, expected, counts))
        for (audited, expected), counts in zip(found, waves, strict=True)
    ]


def _runs(first: GroupPass, rest: Passes, found: list[tuple[Audited, Expectation]]) -> Runs:
    """Hand out the run of each pass, audit its record, and tell the passes."""
    each = first
    while True:
        record = yield each.run
        assert record is not None
        found.append((Audited(record, audit(record, each.expected)), each.expected))
        try:
            each = rest.send(found[-1][0])
        except StopIteration:
            return


def _in_turn(passes: Sequence[GroupPass]) -> Passes:
    """Passes that do not depend on each other."""
    for each in passes:  # noqa: UP028 - a list has nothing that could be sent to
        yield each
