"""One stream for two: each gets its own words, in order, and a last where its turn ends."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import pytest

from merp.cosim.block.replay import lint_verilog, replay
from merp.hdl.base.signals import Stream, flag
from merp.hdl.streams.stream_demux import stream_demux
from merp.testbenches.block.trace import Sample, Trace, run_block

INPUTS = (
    "second", "turn_ends", "sink_data", "sink_valid", "sink_last", "one_ready", "other_ready",
)  # fmt: skip


def arguments() -> dict[str, Any]:
    return {
        "second": flag(), "turn_ends": flag(), "sink": Stream(8), "one": Stream(8),
        "other": Stream(8),
    }  # fmt: skip


def play(seed: int) -> Trace:
    """Turns of three words; a source that holds what it offers."""
    rng = Random(seed)
    given, taken = rng.choice([0.3, 1.0]), rng.choice([0.4, 1.0])
    state = {"passed": 0}

    def drive(cycle: int, seen: Sample) -> dict[str, int]:
        values = {name: int(rng.random() < taken) for name in ("one_ready", "other_ready")}
        moved = bool(seen) and seen["sink_valid"] and seen["sink_ready"]
        if moved:
            state["passed"] += 1
        if not seen or moved or not seen["sink_valid"]:
            values |= {
                "sink_valid": int(rng.random() < given),
                "sink_data": rng.getrandbits(8),
                "sink_last": int(rng.random() < 0.2),
            }
        turn, place = divmod(state["passed"], 3)
        return values | {"second": turn % 2, "turn_ends": int(place == 2)}

    return run_block(stream_demux, arguments(), INPUTS, drive, 200)


def moved(trace: Trace, stream: str) -> list[tuple[int, int, int]]:
    """Cycle, word and last of each transfer."""
    names = (f"{stream}_{field}" for field in ("valid", "ready", "data", "last"))
    rows = zip(*(trace.column(name) for name in names), strict=True)
    return [(t, word, last) for t, (valid, ready, word, last) in enumerate(rows) if valid and ready]


@pytest.mark.parametrize("seed", range(4))
def test_words_go_where_their_turn_says(seed: int) -> None:
    trace = play(seed)
    second, ends = trace.column("second"), trace.column("turn_ends")
    one, other, sink = (moved(trace, name) for name in ("one", "other", "sink"))
    assert min(len(one), len(other)) > 5
    assert sorted(one + other, key=lambda each: each[0]) == [
        (t, word, int(ends[t] != last) if not second[t] else last) for t, word, last in sink
    ]
    assert not any(second[t] for t, *_ in one)
    assert all(second[t] for t, *_ in other)


@pytest.mark.ghdl
@pytest.mark.verilator
def test_vhdl_replays(tmp_path: Path) -> None:
    trace = play(1)
    assert replay(trace, tmp_path / "vhdl") == len(trace.rows)
    lint_verilog(stream_demux, trace.args, tmp_path / "verilog")
