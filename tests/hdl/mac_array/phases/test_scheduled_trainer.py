"""One start of the schedule does what as many starts of the trainer do, in the stated cycles."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from trainer_cases import Case, check, design_of, dp, fp, ku

from merp.cosim.engines.axi_engine import run_axi
from merp.cosim.engines.engine import run_job
from merp.cosim.engines.job import Job
from merp.cosim.engines.record import RunRecord
from merp.models.machines.mac_array.schedule_cycles import schedule_cycles
from merp.testbenches.mac_array.scheduled_bench import scheduled_run, scheduled_top
from merp.testbenches.mac_array.supply_bench import SuppliedPass, make_layer
from merp.testbenches.mac_array.trainer_bench import run_of
from merp.testbenches.top.run import Run

DESIGN = design_of(momentum=True, loss=True)
LOSS = {"loss": "hinge", "one_shift": 10, "loss_shift": -1, "shift": 20, "relu": False}
SIZES = {"inputs": 2, "outputs": 5, "rows": 4, "columns": 4, "kernel": 3, "pad": 1, "pool": 2}
WAITS = ("status_total", "status_fill", "status_drain", "status_stall")
ENDS = ((True, False), (False, False), (False, True))
"""First and last, of a batch of three images."""


def image(number: int, first: bool, last: bool) -> list[Case]:
    """Passes of an image: of every phase, with masks, places of maxima and a loss."""
    front = fp(number, **SIZES)
    classes = {"inputs": 3, "outputs": 10, "rows": 1, "columns": 1, "kernel": 1}
    back = dp(number + 2, inputs=5, outputs=3, rows=2, columns=2, kernel=2)
    ends = {"first": first, "last": last, "has_momentum": True}
    return [
        Case(front),
        Case(fp(number + 1, **classes, **LOSS)),
        Case(back, masks=front),
        Case(make_layer(number + 3, phase="upsample", **SIZES), places=front),
        Case(ku(number + 4, **SIZES, **ends), places=front),
    ]


def passes_of(images: Sequence[tuple[bool, bool]]) -> list[Case]:
    """Of a batch."""
    return [case for at, ends in enumerate(images) for case in image(10 * at + 1, *ends)]


def joined(cases: Sequence[Case], alone: Sequence[RunRecord], images: int, **more: Any) -> Run:
    """The passes as one run, with the words that left each alone."""
    runs = [run_of(case.layer, DESIGN) for case in cases]
    leaving = [{name: len(words) for name, words in each.outcome.words.items()} for each in alone]
    return scheduled_run(runs, leaving, images, DESIGN, **more)


def agrees(record: RunRecord, alone: Sequence[RunRecord], stalled: bool = False) -> None:
    """The words of all passes, one behind the other, every one counted on the pins.

    Counters are sums over the passes, too, but those of cycles where ports stall.
    """
    outcome = record.outcome
    assert not outcome.faults
    counters = {name: sum(each.outcome.status[name] for each in alone) for name in outcome.status}
    flags = {"status_busy": 0, "status_done": 1, "status_framing_error": 0}
    waits = {name for name in counters if name.startswith(WAITS)} if stalled else set()
    wanted = counters | flags | {name: outcome.status[name] for name in waits}
    assert outcome.status == wanted
    for name, words in outcome.words.items():
        assert np.array_equal(words, np.concatenate([each.words(name) for each in alone])), name
    for name in alone[0].outcome.transfers:
        assert outcome.transfers[name] == sum(each.outcome.transfers[name] for each in alone)


def play(runs: Sequence[Run], engine: str = "myhdl", array: str = "behavioural") -> list[RunRecord]:
    return run_job(Job(scheduled_top(DESIGN, array), runs, limit=3000), engine)


@pytest.mark.full
def test_a_batch_from_one_start() -> None:
    cases = passes_of(ENDS)
    alone = check(DESIGN, *cases)
    own = [each.outcome.cycles for each in alone]
    loads, again = play([
        joined(cases, alone, 3), joined(cases, alone, 3, load=False),
    ])  # fmt: skip
    agrees(loads, alone)
    agrees(again, alone)
    assert loads.outcome.cycles == schedule_cycles(own, 5, DESIGN)
    assert again.outcome.cycles == schedule_cycles(own, 0, DESIGN)


def test_an_image_alone_is_first_and_last_and_ports_may_wait() -> None:
    cases = passes_of([(True, True)])
    alone = check(DESIGN, *cases)
    rates = {
        "s_axis_schedule": (0, 1, 0), "s_axis_map": (0, 1, 1), "m_axis_map": (1, 0, 0),
        "s_axis_kernel": (1, 0), "m_axis_kernel": (0, 1), "s_axis_target": (*[0] * 40, 1),
    }  # fmt: skip
    cuts = (20, 200, 700)
    runs = [joined(cases, alone, 1, stalls=rates, reset_at=cut) for cut in cuts]
    records = play([*runs, joined(cases, alone, 1)])
    for record in records:
        agrees(record, alone, stalled=record is not records[-1])
    assert [each.outcome.resets for each in records] == [1, 1, 1, 0]


def test_images_with_other_passes_are_refused() -> None:
    cases = passes_of(ENDS[:1]) * 2
    other: SuppliedPass = replace(cases[-1].layer, work=replace(cases[-1].layer.work, rate=1))
    runs = [run_of(case.layer, DESIGN) for case in (*cases[:-1], Case(other))]
    with pytest.raises(ValueError, match="image 1: its passes differ from those of the first one"):
        scheduled_run(runs, [{}] * len(runs), 2, DESIGN)


@pytest.mark.full
@pytest.mark.ghdl
def test_vhdl_does_the_same() -> None:
    cases = passes_of([(True, False), (False, True)])
    alone = check(DESIGN, *cases)
    (record,) = play([joined(cases, alone, 2)], "ghdl", "rtl")
    agrees(record, alone)
    assert record.outcome.cycles == schedule_cycles([e.outcome.cycles for e in alone], 5, DESIGN)


@pytest.mark.full
@pytest.mark.ghdl
def test_software_starts_a_batch_through_axi() -> None:
    """The schedule comes by its stream once; the shell costs no cycle."""
    cases = passes_of([(True, False), (False, True)])
    alone = check(DESIGN, *cases)
    runs = [joined(cases, alone, 2), joined(cases, alone, 2, load=False)]
    bare = play(runs)
    through = run_axi(Job(scheduled_top(DESIGN), runs, limit=3000))
    for one, other in zip(through, bare, strict=True):
        agrees(one, alone)
        assert one.differences(other) == []
