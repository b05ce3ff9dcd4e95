"""Sources, sinks and monitors, cycle by cycle, without a simulator."""

from collections.abc import Sequence

import numpy as np
import pytest

from merp.testbenches.top.run import Run
from merp.testbenches.top.streams import Changes, Monitor, Sink, Source, StreamPins
from merp.testbenches.top.top import Pin, TopPorts

PORTS = TopPorts(
    inputs=(Pin("s_axis_a", 8),),
    outputs=(Pin("m_axis_b", 8),),
    config=(Pin("config_x", 4),),
    status=(Pin("status_done", 1),),
)


class Wire:
    """A stream's pins that a test sets by hand."""

    def __init__(self) -> None:
        self.values = dict.fromkeys(("tdata", "tvalid", "tready", "tlast"), 0)

    def set(self, **values: int) -> None:
        self.values |= values

    def pins(self) -> StreamPins:
        names = ("tdata", "tvalid", "tready", "tlast")
        return StreamPins(*(lambda name=name: self.values[name] for name in names))


def drive_source(
    words: Sequence[int], pattern: Sequence[int], ready: Sequence[int], ends: Sequence[int] = ()
) -> list[str]:
    """What the pins show in each cycle: data, ``!`` for last, ``.`` for nothing."""
    source = Source(Pin("s", 8), words, pattern, ends)
    state: Changes = {"s_tvalid": 0, "s_tlast": 0, "s_tdata": 0}
    shown = []
    for t, taking in enumerate(ready):
        changes: Changes = {}
        source.drive(t, changes)
        state |= changes
        valid, last = state["s_tvalid"], state["s_tlast"]
        shown.append(f"{state['s_tdata']}{'!' if last else ''}" if valid else ".")
        if valid and taking:
            source.taken()
    return shown


def test_source_at_full_rate_presents_a_word_a_cycle() -> None:
    assert drive_source([1, 2, 3], (1,), [1] * 5) == ["1", "2", "3!", ".", "."]


def test_source_ends_each_pass_of_a_run() -> None:
    assert drive_source([1, 2, 3, 4], (1,), [1] * 4, [1, 3, 4]) == ["1!", "2", "3!", "4!"]


def test_ends_of_wide_beats_are_counted_in_words() -> None:
    source = Source(Pin("s", 16, 2), [1, 2, 3, 4, 5], (1,), [2, 5])
    lasts = []
    for t in range(3):
        changes: Changes = {}
        source.drive(t, changes)
        lasts.append(changes["s_tlast"])
        source.taken()
    assert lasts == [1, 0, 1]


def test_source_holds_a_word_until_it_is_taken() -> None:
    assert drive_source([1, 2], (1,), [0, 0, 1, 0, 1, 1]) == ["1", "1", "1", "2!", "2!", "."]


def test_source_looks_at_its_pattern_only_when_it_holds_no_word() -> None:
    shown = drive_source([1, 2, 3], (0, 1, 0), [1, 0, 0, 1, 1, 1, 1, 1])
    assert shown == [".", "1", "1", "1", "2", ".", ".", "3!"]


def test_source_without_words_stays_silent() -> None:
    assert drive_source([], (1,), [1, 1]) == [".", "."]


def test_sink_repeats_its_pattern_and_changes_nothing_else() -> None:
    sink = Sink("m", (1, 1, 0))
    seen = []
    for t in range(7):
        changes: Changes = {}
        sink.drive(t, changes)
        seen.append(changes.get("m_tready"))
    assert seen == [1, None, 0, 1, None, 0, 1]


def test_monitor_counts_only_valid_and_ready() -> None:
    wire = Wire()
    monitor = Monitor(Pin("m", 8), wire.pins(), None)
    for t, (valid, ready) in enumerate([(0, 0), (0, 1), (1, 0), (1, 1), (0, 1), (1, 1)]):
        wire.set(tdata=9 if t < 4 else 7, tvalid=valid, tready=ready, tlast=int(t > 4))
        monitor.sample(t)
    monitor.finish()
    assert (monitor.count, monitor.words, monitor.first, monitor.last) == (2, [9, 7], 3, 5)
    assert monitor.faults == []


def test_an_output_may_carry_nothing() -> None:
    # A run without state; words that should have come are missed by the audit.
    monitor = Monitor(Pin("m", 8), Wire().pins(), None)
    monitor.sample(0)
    monitor.finish()
    assert (monitor.count, monitor.faults) == (0, [])


@pytest.mark.parametrize(
    ("cycles", "fault"),
    [
        # (valid, ready, data, last) by cycle
        ([(1, 0, 5, 0), (0, 0, 5, 0)], "m: valid fell before the transfer (cycle 1)"),
        ([(1, 0, 5, 0), (1, 0, 6, 0)], "m: data or last changed before the transfer (cycle 1)"),
        ([(1, 0, 5, 0), (1, 1, 5, 1)], "m: data or last changed before the transfer (cycle 1)"),
        ([(1, 1, 5, 0)], "m: last must come once, with the final word"),
        ([(1, 1, 5, 1), (1, 1, 6, 1)], "m: last must come once, with the final word"),
        ([(1, 1, 5, 1), (1, 1, 6, 0)], "m: last must come once, with the final word"),
    ],
)
def test_monitor_names_a_broken_rule(cycles: list[tuple[int, ...]], fault: str) -> None:
    wire = Wire()
    monitor = Monitor(Pin("m", 8), wire.pins(), None)
    for t, (valid, ready, data, last) in enumerate(cycles):
        wire.set(tdata=data, tvalid=valid, tready=ready, tlast=last)
        monitor.sample(t)
    monitor.finish()
    assert fault in monitor.faults


@pytest.mark.parametrize(("lasts", "right"), [([2, 3], True), ([3], False), ([1, 2, 3], False)])
def test_monitor_wants_the_last_word_of_each_pass(lasts: list[int], right: bool) -> None:
    wire = Wire()
    monitor = Monitor(Pin("m", 8), wire.pins(), None, [2, 3])
    for t in range(3):
        wire.set(tdata=t, tvalid=1, tready=1, tlast=int(t + 1 in lasts))
        monitor.sample(t)
    monitor.finish()
    fault = "m: last must come with the final word of each pass"
    assert monitor.faults == ([] if right else [fault])


def test_a_new_word_after_a_transfer_is_no_change() -> None:
    wire = Wire()
    monitor = Monitor(Pin("m", 8), wire.pins(), None)
    for t, data in enumerate((1, 2, 3)):
        wire.set(tdata=data, tvalid=1, tready=1, tlast=int(data == 3))
        monitor.sample(t)
    monitor.finish()
    assert monitor.faults == []


def test_monitor_of_an_input_wants_every_word_taken_and_no_more_asked_for() -> None:
    wire = Wire()
    monitor = Monitor(Pin("s", 8), wire.pins(), 2)
    wire.set(tvalid=1, tready=1)
    monitor.sample(0)
    monitor.finish()
    assert monitor.faults == ["s: 1 of 2 words were not taken"]
    monitor.faults.clear()
    monitor.sample(1)
    wire.set(tvalid=0)
    monitor.sample(2)
    monitor.sample(3)
    monitor.finish()
    assert monitor.faults == ["s: ready after all 2 words were taken (cycle 2)"]


def run_with(**changes: object) -> Run:
    values = {"config": {"config_x": 1}, "words": {"s_axis_a": np.array([1], np.uint32)}}
    return Run(**(values | changes))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"config": {}}, r"config: missing \['config_x'\]"),
        ({"config": {"config_x": 16}}, "config_x must fit in 4 bits, not 16"),
        ({"words": {"s_axis_a": np.array([256])}}, "s_axis_a: a word must fit in 8 bits"),
        ({"words": {"s_axis_b": np.array([1])}}, r"unknown \['s_axis_b'\]"),
        ({"stalls": {"s_axis_b": (1,)}}, "no such stream: s_axis_b"),
        ({"stalls": {"m_axis_b": (0, 0)}}, "the pattern of m_axis_b never lets a word pass"),
        ({"reset_at": 0}, "reset_at must be at least 1"),
        ({"ends": {"s_axis_b": [1]}}, "ends: no such stream: s_axis_b"),
        ({"ends": {"s_axis_a": [2]}}, "ends: the last of s_axis_a must be its final word: "),
        ({"ends": {"m_axis_b": [2, 1]}}, "ends: values of m_axis_b must rise, by whole beats: "),
    ],
)
def test_a_run_that_does_not_fit_its_top_is_refused(changes: dict, message: str) -> None:
    run_with().check(PORTS)
    with pytest.raises(ValueError, match=message):
        run_with(**changes).check(PORTS)
