"""A stream that is kept: every word in order, as many as there is room for, and how many."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import pytest

from merp.cosim.block.replay import replay
from merp.hdl.base.signals import Stream, count, flag
from merp.hdl.streams.stream_fifo import stream_fifo
from merp.models.base.latencies import CREDIT_RETURN
from merp.testbenches.block.reset import as_new_after_reset, at_random
from merp.testbenches.block.trace import Sample, Trace, run_block

WIDTH = 6
INPUTS = ("rst", "start", "sink_data", "sink_valid", "sink_last", "source_ready")


def arguments(words: int) -> dict[str, Any]:
    return {
        "clk": flag(), "rst": flag(), "start": flag(), "sink": Stream(WIDTH),
        "source": Stream(WIDTH), "fill": count(words + 1), "peak": count(words + 1),
        "words": words,
    }  # fmt: skip


def play(words: int, rates: tuple[float, float], cycles: int, start: int | None = None) -> Trace:
    """Words that count up, offered and taken at two rates; a start in a cycle."""
    rng = Random(f"{words} {rates}")
    state = {"at": 0, "valid": 0}

    def drive(cycle: int, seen: Sample) -> dict[str, int]:
        if state["valid"] and seen["sink_ready"]:
            state.update(at=state["at"] + 1, valid=0)
        if cycle and not state["valid"]:
            state["valid"] = int(rng.random() < rates[0])
        return {
            "rst": int(cycle == 0), "start": int(cycle == start), "sink_valid": state["valid"],
            "sink_data": state["at"] % (1 << WIDTH), "sink_last": int(state["at"] % 5 == 4),
            "source_ready": int(rng.random() < rates[1]),
        }  # fmt: skip

    return run_block(stream_fifo, arguments(words), INPUTS, drive, cycles)


def passed(trace: Trace, stream: str) -> list[tuple[int, int, int]]:
    names = ("valid", "ready", "data", "last")
    columns = zip(*(trace.column(f"{stream}_{name}") for name in names), strict=True)
    return [(t, data, last) for t, (on, off, data, last) in enumerate(columns) if on and off]


RATES = [(1.0, 1.0), (0.5, 0.9), (0.9, 0.3), (0.7, 0.6)]


@pytest.mark.parametrize("rates", RATES)
@pytest.mark.parametrize("words", [1, 2, CREDIT_RETURN, 9])
def test_every_word_in_order_and_how_many_are_kept(words: int, rates: tuple[float, float]) -> None:
    trace = play(words, rates, 200)
    taken, given = passed(trace, "sink"), passed(trace, "source")
    assert len(given) > 20
    assert [word[1:] for word in given] == [word[1:] for word in taken[: len(given)]]
    ins, outs = ({t for t, *_ in each} for each in (taken, given))
    kept, most = 0, 0
    for t, (fill, peak) in enumerate(zip(trace.column("fill"), trace.column("peak"), strict=True)):
        if t > 1:
            assert (fill, peak) == (kept, most)
        most = max(most, kept)
        kept += (t in ins) - (t in outs)
    assert most <= words + 1


def test_a_word_per_cycle() -> None:
    trace = play(CREDIT_RETURN, RATES[0], 60)
    assert [t for t, *_ in passed(trace, "source")] == list(range(3, 60))


def test_it_takes_as_many_as_it_has_room_for() -> None:
    trace = play(7, (1.0, 0.0), 40)
    assert len(passed(trace, "sink")) == 7 + 1 == trace.column("peak")[-1]


def test_start_forgets_the_peak_and_keeps_the_words() -> None:
    trace = play(7, (0.6, 0.6), 120, 60)
    peak, fill = trace.column("peak"), trace.column("fill")
    assert max(peak[:60]) > fill[60] == peak[61]
    given = [word[1:] for word in passed(trace, "source")]
    assert given == [word[1:] for word in passed(trace, "sink")][: len(given)]


def test_a_reset_leaves_nothing_behind() -> None:
    as_new_after_reset(
        stream_fifo,
        arguments(CREDIT_RETURN),
        INPUTS,
        lambda number: at_random(
            number, {}, {"sink_valid": 0.7, "source_ready": 0.5, "sink_last": 0.2},
            {"sink_data": WIDTH},
        ),
        range(3, 30, 3),
        40,
        payload={"source_data": "source_valid", "source_last": "source_valid"},
    )  # fmt: skip


@pytest.mark.ghdl
def test_stream_fifo_vhdl(tmp_path: Path) -> None:
    trace = play(CREDIT_RETURN, RATES[2], 120, 60)
    assert replay(trace, tmp_path) == len(trace.rows)
