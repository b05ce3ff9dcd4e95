"""Raw sums on their way out: places for beats, words in order, and nothing where sums stay."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from myhdl import always_comb, block

from block_bench import BlockBench, Recorded, Sample
from merp.hdl.base.signals import Stream, flag
from merp.hdl.cnn_merp.super_layer.partial_writer import PLACES, partial_writer
from merp.hdl.cnn_merp.super_layer.super_layer_ports import BeatStep, ResultBeat
from merp.models.machines.cnn_merp.params.design import EngineDesign

DESIGN = EngineDesign(
    k=1, n_cu=3, r=3, kernel_words=1, groups=1, row_words=1, max_size=8, max_maps=1,
    fifo_words=1, partial=True, cu_kind="fused", accumulator_precision=28,
)  # fmt: skip
WIDTH = DESIGN.sum_format.width


@block
def issuing(
    clk: Any, rst: Any, start: Any, raw: Any, wanted: Any, step: BeatStep, permit: Any,
    beat: ResultBeat, source: Stream, sent: Any,
) -> Any:  # fmt: skip
    """The writer, and a beat that is issued as soon as it is permitted, as in ``beat_issue``."""

    @always_comb
    def issue() -> None:
        step.issue.next = wanted and permit

    writer = partial_writer(
        clk, rst, start, raw=raw, step=step, permit=permit, beat=beat, source=source, sent=sent,
        design=DESIGN,
    )  # fmt: skip
    return issue, writer


def run(raw: int, beats: list[list[int]], offer: float, accept: Callable[[int], float]) -> Recorded:
    """Two runs of the same beats; the first one's end is the second one's start."""
    rng = np.random.default_rng(len(beats))
    bench = BlockBench(
        issuing, "clk rst start wanted permit sent", raw=flag(raw), step=BeatStep(DESIGN),
        beat=ResultBeat(DESIGN), source=Stream(DESIGN.partial_width),
    )  # fmt: skip
    queue = [(beat, beat is beats[-1]) for beat in (*beats, *beats)]
    begun = 0

    def drive(cycle: int, seen: Sample) -> dict[str, int]:
        nonlocal begun
        if cycle < 2:
            return {"rst": int(cycle == 0), "start": int(cycle == 1)}
        values = {"start": 0, "beat_elements": 0, "source_ready": int(rng.random() < accept(cycle))}
        if seen["step_issue"]:
            elements, ends = queue.pop(0)
            noise = rng.integers(1 << WIDTH, size=DESIGN.r - len(elements)).tolist()
            words = [*elements, *noise]
            data = sum(word << lane * WIDTH for lane, word in enumerate(words))
            values |= {"beat_data": data, "beat_ends_run": int(ends)}
            values["beat_elements"] = len(elements)
        if not begun and len(queue) == len(beats):
            values["wanted"] = 0
            if seen["sent"] or not raw:
                begun, values["start"] = cycle, 1
            return values
        return values | {"wanted": int(bool(queue) and cycle > begun and rng.random() < offer)}

    return bench.run(drive, 40 + 9 * len(beats))


def beats_of(number: int) -> list[list[int]]:
    rng = np.random.default_rng(number)
    sizes = rng.integers(1, DESIGN.r + 1, number)
    return [rng.integers(1 << WIDTH, size=size).tolist() for size in sizes]


@pytest.mark.parametrize(("offer", "accept"), [(1.0, 1.0), (0.4, 1.0), (1.0, 0.6), (0.5, 0.7)])
def test_words_leave_in_order(offer: float, accept: float) -> None:
    beats = beats_of(25)
    trace = run(1, beats, offer, lambda _: accept)
    words = [word for beat in beats for word in beat]
    wanted = [(word, int(at == len(words) - 1)) for at, word in enumerate(words)]
    pins = ("valid", "ready", "data", "last")
    rows = trace.columns(*(f"source_{pin}" for pin in pins))
    sent, starts = trace.column("sent"), trace.column("start")
    ends = [cycle for cycle, row in enumerate(rows) if row[0] and row[1] and row[3]]
    assert [row[2:] for row in rows if row[0] and row[1]] == wanted * 2
    second = starts.index(1, 2)
    for begin, end, until in ((1, ends[0], second), (second, ends[1], len(rows) - 1)):
        assert sent[begin + 1 : until + 1] == [int(end < c) for c in range(begin + 1, until + 1)]
    if accept == 1.0:
        first = trace.column("step_issue").index(1)
        assert [row[0] for row in rows[: first + 5]] == [0] * (first + 4) + [1]


def test_beats_wait_for_places() -> None:
    """With a reader that stands still as many are issued as there are places and a word under way.

    The words that a beat in the sender does not have to leave free are those of one more beat.
    """
    beats = beats_of(12)
    trace = run(1, beats, 1.0, lambda cycle: float(cycle > 40))
    issues = trace.column("step_issue")[:40]
    assert PLACES <= sum(issues) <= PLACES + 2
    assert trace.column("permit")[20:40] == [0] * 20
    words = [word for beat in beats for word in beat]
    assert [data for data, _ in trace.words("source")] == words * 2


def test_sums_that_stay_need_no_place() -> None:
    trace = run(0, beats_of(12), 1.0, lambda _: 0.0)
    assert all(trace.column("permit"))
    assert not any(trace.column("source_valid"))
    assert sum(trace.column("step_issue")) == 24
