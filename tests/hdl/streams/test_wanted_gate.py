"""The entrance of a stream that some runs take: beats, the handshake, a last in the wrong place."""

from random import Random

import pytest

from block_bench import BlockBench, Replays, Sample
from merp.hdl.base.signals import Stream, bits
from merp.hdl.streams.wanted_gate import wanted_gate

CYCLES = 400
BENCH = BlockBench(
    wanted_gate, "clk rst start wanted framing_error", beats=bits(3),
    sink=Stream(4), source=Stream(4),
)  # fmt: skip


class Runs:
    """Runs that take up to five beats, or none; resets come, and starts before a run is over.

    Half of the runs have their last in place.
    """

    def __init__(self, seed: int) -> None:
        self.rng = Random(seed)
        self.left = self.error = 0
        self.in_place = True
        self.told: list[dict[str, int]] = []

    def __call__(self, cycle: int, _: Sample) -> dict[str, int]:
        """Drive a cycle, and keep what the block has to tell in it."""
        rng, left = self.rng, self.left
        pins = {name: int(rng.random() < 0.7) for name in ("sink_valid", "source_ready", "wanted")}
        pins |= {"rst": int(cycle == 0 or rng.random() < 0.04), "beats": rng.randrange(6)}
        pins |= {"start": int(rng.random() < 0.12), "sink_data": rng.getrandbits(4)}
        pins["sink_last"] = int(left == 1) if self.in_place else rng.getrandbits(1)
        self.told.append(
            {
                "source_valid": int(pins["sink_valid"] and left > 0),
                "sink_ready": int(pins["source_ready"] and left > 0),
                "framing_error": self.error,
            }
            | {f"source_{name}": pins[f"sink_{name}"] for name in ("data", "last")}
        )
        if left and pins["source_ready"] and pins["sink_valid"]:
            self.error |= pins["sink_last"] != (left == 1)
            self.left -= 1
        if pins["start"]:
            self.left, self.error = pins["wanted"] * pins["beats"], 0
            self.in_place = rng.random() < 0.5
        if pins["rst"]:
            self.left = self.error = 0
        return pins


@pytest.mark.parametrize("seed", range(4))
def test_it_lets_the_beats_of_runs_through_that_want_them(seed: int) -> None:
    runs = Runs(seed)
    trace = BENCH.run(runs, CYCLES)
    for cycle, told in enumerate(runs.told):
        # Before the reset of cycle 0 nothing is known.
        assert not cycle or {name: trace.column(name)[cycle] for name in told} == told, cycle
    assert any(trace.column("framing_error"))
    assert len(trace.words("source")) > CYCLES / 10


@pytest.mark.ghdl
def test_vhdl_replays(replays: Replays) -> None:
    assert replays(BENCH.run(Runs(0), CYCLES)) == CYCLES
