"""The entrance of a stream of beats: so many words, the handshake, and a last put in its place."""

from random import Random

import pytest

from block_bench import BlockBench, Sample
from merp.hdl.base.signals import Stream, beats, bits
from merp.hdl.streams.beat_gate import beat_gate

WIDTH = 8


@pytest.mark.parametrize("lanes", [2, 4])
def test_it_closes_behind_the_beats_of_a_run(lanes: int) -> None:
    """Half of the runs have their last in place; resets come, and starts before a run is over."""
    sink = Stream(lanes * WIDTH)
    sink.keep = bits(lanes)
    bench = BlockBench(
        beat_gate, "clk rst start framing_error", words=bits(5), sink=sink, source=beats(sink),
        width=WIDTH,
    )  # fmt: skip
    rng = Random(lanes)
    left = error = 0
    right = True
    wanted: list[dict[str, int]] = []

    def drive(cycle: int, _: Sample) -> dict[str, int]:
        nonlocal left, error, right
        values = {name: int(rng.random() < 0.7) for name in ("sink_valid", "source_ready")}
        values |= {"sink_data": rng.getrandbits(lanes * WIDTH), "sink_keep": rng.getrandbits(lanes)}
        values |= {"rst": int(cycle == 0 or rng.random() < 0.04), "words": rng.randrange(1, 20)}
        values |= {"start": int(rng.random() < 0.1)}
        ending = left <= lanes
        values["sink_last"] = int(ending) if right else int(rng.random() < 0.5)
        passes = left > 0 and values["sink_valid"]
        told = {
            "source_valid": int(passes),
            "sink_ready": int(values["source_ready"] and left > 0),
            "framing_error": error,
        }
        if passes:
            told |= {f"source_{name}": values[f"sink_{name}"] for name in ("data", "keep")}
            told["source_last"] = int(ending)
        wanted.append(told)
        if passes and values["source_ready"]:
            error |= values["sink_last"] != ending
            left = max(0, left - lanes)
        if values["start"]:
            left, error, right = values["words"], 0, rng.random() < 0.5
        if values["rst"]:
            left = error = 0
        return values

    trace = bench.run(drive, 800)
    for cycle, told in enumerate(wanted):
        assert {name: trace.column(name)[cycle] for name in told} == told, f"cycle {cycle}"
    assert any(trace.column("framing_error"))
