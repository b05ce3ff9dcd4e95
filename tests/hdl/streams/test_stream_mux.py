"""One of two streams: the words of that one, in order, and none of the other."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import pytest

from merp.cosim.block.replay import lint_verilog, replay
from merp.hdl.base.signals import Stream, flag
from merp.hdl.streams.stream_mux import stream_mux
from merp.testbenches.block.trace import Sample, Trace, run_block

INPUTS = (
    "second", "one_data", "one_valid", "one_last", "other_data", "other_valid", "other_last",
    "source_ready",
)  # fmt: skip
CYCLES = 400


def play(seed: int) -> Trace:
    """Runs in turns; sources hold what they offer."""
    args: dict[str, Any] = {
        "second": flag(), "one": Stream(8), "other": Stream(8), "source": Stream(8),
    }  # fmt: skip
    rng = Random(seed)
    given = {name: rng.choice([0.3, 0.7, 1.0]) for name in ("one", "other")}
    taken = rng.choice([0.3, 0.7, 1.0])

    def drive(cycle: int, seen: Sample) -> dict[str, int]:
        values = {"source_ready": int(rng.random() < taken)}
        for name, pace in given.items():
            if not seen or not seen[f"{name}_valid"] or seen[f"{name}_ready"]:
                values[f"{name}_valid"] = int(rng.random() < pace)
                values[f"{name}_data"] = rng.getrandbits(8)
                values[f"{name}_last"] = rng.getrandbits(1)
        return values | {"second": cycle // 20 % 2}

    return run_block(stream_mux, args, INPUTS, drive, CYCLES)


def moved(trace: Trace, stream: str) -> list[tuple[int, int, int]]:
    """Cycle, word and last of each transfer."""
    names = (f"{stream}_{field}" for field in ("valid", "ready", "data", "last"))
    rows = zip(*(trace.column(name) for name in names), strict=True)
    return [(t, word, last) for t, (valid, ready, word, last) in enumerate(rows) if valid and ready]


@pytest.mark.parametrize("seed", range(6))
def test_words_are_those_of_the_chosen_stream(seed: int) -> None:
    trace = play(seed)
    second = trace.column("second")
    one, other = moved(trace, "one"), moved(trace, "other")
    assert one
    assert other
    assert not any(second[t] for t, *_ in one)
    assert all(second[t] for t, *_ in other)
    assert moved(trace, "source") == sorted(one + other)


@pytest.mark.parametrize("seed", range(6))
def test_it_neither_offers_nor_waits_on_its_own(seed: int) -> None:
    trace = play(seed)
    for t, second in enumerate(trace.column("second")):
        chosen = "other" if second else "one"
        assert trace.column("source_valid")[t] == trace.column(f"{chosen}_valid")[t]
        assert trace.column(f"{chosen}_ready")[t] == trace.column("source_ready")[t]


@pytest.mark.ghdl
@pytest.mark.verilator
def test_vhdl_replays(tmp_path: Path) -> None:
    trace = play(1)
    assert replay(trace, tmp_path / "vhdl") == CYCLES
    lint_verilog(stream_mux, trace.args, tmp_path / "verilog")
