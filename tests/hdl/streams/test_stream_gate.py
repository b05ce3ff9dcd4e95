"""The entrance of a stream: so many words, the handshake, and a last that is misplaced."""

from random import Random

import pytest

from block_bench import BlockBench, Sample
from merp.hdl.base.signals import Stream, bits
from merp.hdl.streams.stream_gate import stream_gate


@pytest.mark.parametrize("seed", range(4))
def test_it_closes_behind_the_words_of_a_run(seed: int) -> None:
    """Half of the runs have their last in place; resets come, and starts before a run is over."""
    bench = BlockBench(
        stream_gate, "clk rst start valid ready framing_error", words=bits(3), sink=Stream(4)
    )
    rng = Random(seed)
    left = error = 0
    right = True
    wanted: list[dict[str, int]] = []

    def drive(cycle: int, _: Sample) -> dict[str, int]:
        nonlocal left, error, right
        values = {name: int(rng.random() < 0.7) for name in ("sink_valid", "ready")}
        values |= {"rst": int(cycle == 0 or rng.random() < 0.04), "words": rng.randrange(6)}
        values |= {"start": int(rng.random() < 0.12)}
        values["sink_last"] = int(left == 1) if right else int(rng.random() < 0.5)
        wanted.append(
            {
                "valid": int(values["sink_valid"] and left > 0),
                "sink_ready": int(values["ready"] and left > 0),
                "framing_error": error,
            }
        )
        if left and values["ready"] and values["sink_valid"]:
            error |= values["sink_last"] != (left == 1)
            left -= 1
        if values["start"]:
            left, error, right = values["words"], 0, rng.random() < 0.5
        if values["rst"]:
            left = error = 0
        return values

    trace = bench.run(drive, 400)
    for cycle, told in enumerate(wanted):
        assert {name: trace.column(name)[cycle] for name in told} == told, f"cycle {cycle}"
    assert any(trace.column("framing_error"))
