"""One stream for two: each gets its own words, in order, and a last where its turn ends."""

from random import Random

import pytest

from block_bench import BlockBench, Recorded, Replays, Sample
from merp.hdl.base.signals import Stream
from merp.hdl.streams.stream_demux import stream_demux

BENCH = BlockBench(stream_demux, "second turn_ends", sink=Stream(8), one=Stream(8), other=Stream(8))


def play(seed: int) -> Recorded:
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

    return BENCH.run(drive, 200)


@pytest.mark.parametrize("seed", range(4))
def test_words_go_where_their_turn_says(seed: int) -> None:
    trace = play(seed)
    second, ends = trace.column("second"), trace.column("turn_ends")
    one, other, sink = (trace.transfers(name) for name in ("one", "other", "sink"))
    assert min(len(one), len(other)) > 5
    assert sorted(one + other, key=lambda each: each[0]) == [
        (t, word, int(ends[t] != last) if not second[t] else last) for t, word, last in sink
    ]
    assert not any(second[t] for t, *_ in one)
    assert all(second[t] for t, *_ in other)


@pytest.mark.ghdl
@pytest.mark.verilator
def test_vhdl_replays(replays: Replays) -> None:
    replays(play(1), lint=True)
