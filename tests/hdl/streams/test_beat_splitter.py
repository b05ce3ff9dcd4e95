"""The splitter of beats: parts in order, lasts where they belong, no part of the filling."""

from random import Random

import pytest

from block_bench import BlockBench, Recorded, Replays, Sample, at_random
from merp.hdl.base.signals import Stream
from merp.hdl.streams.beat_splitter import beat_splitter

BITS, PARTS = 6, 4


BENCH = BlockBench(
    beat_splitter, "clk rst start closing", sink=Stream(BITS * PARTS), source=Stream(BITS)
)


class Source:
    """Beats of some runs, and a reader that says which part is a run's last."""

    def __init__(self, seed: int, runs: list[int], density: float) -> None:
        self.rng = Random(seed)
        self.density = density
        self.runs = [[self.rng.getrandbits(BITS) for _ in range(parts)] for parts in runs]
        self.beats: list[tuple[int, int]] = []
        for parts in self.runs:
            for at in range(0, len(parts), PARTS):
                beat = parts[at : at + PARTS]
                filling = [self.rng.getrandbits(BITS) for _ in range(PARTS - len(beat))]
                data = sum(part << (i * BITS) for i, part in enumerate(beat + filling))
                self.beats.append((data, int(at + PARTS >= len(parts))))
        self.wanted = [
            (part, int(i == len(parts) - 1)) for parts in self.runs for i, part in enumerate(parts)
        ]
        self.found: list[tuple[int, int]] = []
        self.taken = 0
        self.valid = 0

    def drive(self, cycle: int, seen: Sample) -> dict[str, int]:
        if cycle and seen["source_valid"] and seen["source_ready"]:
            self.found.append((seen["source_data"], seen["source_last"]))
        if cycle and seen["sink_valid"] and seen["sink_ready"]:
            self.taken += 1
            self.valid = 0
        more = self.taken < len(self.beats)
        self.valid = int(more and (self.valid or self.rng.random() < self.density))
        place = len(self.found)
        final = place < len(self.wanted) and self.wanted[place][1]
        data, last = self.beats[self.taken] if more else (0, 0)
        return {
            "rst": 0, "start": int(cycle == 0), "sink_data": data, "sink_last": last,
            "sink_valid": self.valid,
            "source_ready": int(cycle > 0 and self.rng.random() < self.density),
            "closing": int(final),
        }  # fmt: skip


def check(seed: int, runs: list[int], density: float) -> Recorded:
    source = Source(seed, runs, density)
    cycles = int((sum(runs) + 8) / density**2) + 8
    trace = BENCH.run(source.drive, cycles)
    assert source.found == source.wanted
    assert source.taken == len(source.beats)
    return trace


@pytest.mark.parametrize("density", [1.0, 0.6])
def test_parts_come_in_order_without_the_filling(density: float) -> None:
    check(1, [9, 4, 1, 7, 8, 2], density)


def test_a_part_leaves_in_every_cycle() -> None:
    trace = check(2, [9, 5, 4], 1.0)
    assert trace.column("source_valid")[1:19] == [1] * 18


@pytest.mark.parametrize("reset", ["rst", "start"])
def test_after_a_reset_and_a_start_comes_a_first_part(reset: str) -> None:
    """Whichever part of a beat was at hand."""
    flags = {"sink_last": 0.3, "sink_valid": 0.8, "source_ready": 0.8, "closing": 0.2}
    session = at_random(flags, {"sink_data": BITS * PARTS}, begin=1, pulses={reset: 0})
    BENCH.as_new_after_reset(session, range(1, 9), 8, reset)


@pytest.mark.ghdl
def test_beat_splitter_vhdl(replays: Replays) -> None:
    replays(check(3, [5, 8, 3], 0.7))
