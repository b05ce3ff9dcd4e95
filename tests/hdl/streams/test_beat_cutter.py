"""Packed beats cut into pieces: words in order, no beat taken too early, lasts told, resets."""

from random import Random

import pytest

from block_bench import BlockBench, Recorded, Replays, Sample, at_random
from merp.hdl.base.signals import Stream, bits, count
from merp.hdl.streams.beat_cutter import beat_cutter

WIDTH = 6


class Cutter:
    """A run of pieces of random sizes, as ``run_block``'s drive."""

    def __init__(self, lanes: int, sizes: list[int], lasts: set[int], density: float) -> None:
        self.lanes, self.sizes, self.lasts, self.density = lanes, sizes, lasts, density
        self.rng = Random(sum(sizes))
        self.words = [self.rng.getrandbits(WIDTH) for _ in range(sum(sizes) + lanes)]
        self.found: list[int] = []
        self.beats = self.pieces = 0
        self.valid = 0
        self.told = False

    def drive(self, cycle: int, seen: Sample) -> dict[str, int]:
        if cycle > 1 and seen["take"]:
            size = self.sizes[self.pieces]
            self.found += [seen["piece"] >> WIDTH * i & 63 for i in range(size)]
            self.told |= bool(seen["misplaced"])
            self.pieces += 1
            if seen["sink_ready"]:
                self.beats, self.valid = self.beats + 1, 0
        begins = cycle < 2
        more = self.pieces < len(self.sizes)
        self.valid = int(not begins and (self.valid or self.rng.random() < self.density))
        beat = self.words[self.beats * self.lanes : (self.beats + 1) * self.lanes]
        # As a loader does it: a piece is taken in cycles in which it is there.
        used = sum(self.sizes[: self.pieces])
        there = more and (self.valid or used + self.sizes[self.pieces] <= self.beats * self.lanes)
        return {
            "rst": int(cycle == 0), "start": int(cycle == 1),
            "wanted": self.sizes[self.pieces] if more else 1,
            "ending": int(self.pieces == len(self.sizes) - 1),
            "sink_data": sum(word << WIDTH * i for i, word in enumerate(beat)),
            "sink_valid": self.valid, "sink_last": int(self.beats in self.lasts),
            "take": int(not begins and there and self.rng.random() < self.density),
        }  # fmt: skip


def bench_for(lanes: int) -> BlockBench:
    return BlockBench(
        beat_cutter, "clk rst start ending valid take misplaced", wanted=count(lanes),
        sink=Stream(lanes * WIDTH), piece=bits(lanes * WIDTH),
    )  # fmt: skip


def sizes_of(lanes: int, seed: int) -> list[int]:
    rng = Random(seed)
    return [rng.choice((1, lanes, rng.randint(1, lanes))) for _ in range(40)]


def play(
    lanes: int, sizes: list[int], density: float, lasts: set[int] | None = None
) -> tuple[Recorded, Cutter]:
    final = {-(-sum(sizes) // lanes) - 1}
    cutter = Cutter(lanes, sizes, final if lasts is None else lasts, density)
    cycles = int(4 + len(sizes) / density**2 * 1.5)
    trace = bench_for(lanes).run(cutter.drive, cycles)
    assert cutter.found == cutter.words[: sum(sizes)]
    assert cutter.beats == -(-sum(sizes) // lanes)
    return trace, cutter


@pytest.mark.parametrize("lanes", [2, 4, 8])
@pytest.mark.parametrize("density", [1.0, 0.6])
def test_pieces_of_any_size_follow_each_other(lanes: int, density: float) -> None:
    trace, cutter = play(lanes, sizes_of(lanes, lanes), density)
    assert not cutter.told
    if density == 1:  # a piece in every cycle
        assert trace.column("take")[2 : 2 + len(cutter.sizes)] == [1] * len(cutter.sizes)
    # A piece is there without a beat exactly where it does not reach into the next one.
    for valid, ready, offered, take in trace.columns("valid", "sink_ready", "sink_valid", "take"):
        assert not take or valid
        assert not ready or offered


@pytest.mark.parametrize("lasts", [set(), {0}, {2}, {1, 3}, {0, 3}])
@pytest.mark.parametrize("sizes", [[4, 4, 4, 4], [3, 3, 3, 3, 3], [4, 4, 4, 1, 1, 1]])
def test_a_misplaced_last_is_told(lasts: set[int], sizes: list[int]) -> None:
    assert play(4, sizes, 1.0, lasts)[1].told
    assert not play(4, sizes, 1.0)[1].told


def test_after_a_reset_it_is_as_new() -> None:
    flags = {"sink_valid": 1.0, "sink_last": 0.6, "take": 1.0, "ending": 0.0}
    session = at_random(flags, {"sink_data": 4 * WIDTH}, ({"wanted": 3}, {"wanted": 2}))
    payload = {"take": "piece misplaced"}
    bench_for(4).as_new_after_reset(session, range(2, 12), 12, payload=payload)


@pytest.mark.ghdl
def test_vhdl_agrees(replays: Replays) -> None:
    trace, _ = play(4, sizes_of(4, 9), 0.7)
    replays(trace)
