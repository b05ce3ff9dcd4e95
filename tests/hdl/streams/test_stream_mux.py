"""One of two streams: the words of that one, in order, and none of the other."""

from random import Random

import pytest

from block_bench import BlockBench, Recorded, Replays, Sample
from merp.hdl.base.signals import Stream
from merp.hdl.streams.stream_mux import stream_mux

CYCLES = 400


def play(seed: int) -> Recorded:
    """Runs in turns; sources hold what they offer."""
    bench = BlockBench(stream_mux, "second", one=Stream(8), other=Stream(8), source=Stream(8))
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

    return bench.run(drive, CYCLES)


@pytest.mark.parametrize("seed", range(6))
def test_words_are_those_of_the_chosen_stream(seed: int) -> None:
    trace = play(seed)
    second = trace.column("second")
    one, other = trace.transfers("one"), trace.transfers("other")
    assert one
    assert other
    assert not any(second[t] for t, *_ in one)
    assert all(second[t] for t, *_ in other)
    assert trace.transfers("source") == sorted(one + other)


@pytest.mark.parametrize("seed", range(6))
def test_it_neither_offers_nor_waits_on_its_own(seed: int) -> None:
    trace = play(seed)
    for t, second in enumerate(trace.column("second")):
        chosen = "other" if second else "one"
        assert trace.column("source_valid")[t] == trace.column(f"{chosen}_valid")[t]
        assert trace.column(f"{chosen}_ready")[t] == trace.column("source_ready")[t]


@pytest.mark.ghdl
@pytest.mark.verilator
def test_vhdl_replays(replays: Replays) -> None:
    assert replays(play(1), lint=True) == CYCLES
