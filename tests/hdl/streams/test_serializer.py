"""Beats to words: order, last, stream rules, rate."""

from itertools import pairwise

import numpy as np
import pytest

from block_bench import BlockBench, Drive, Recorded, Replays, Sample, at_random
from merp.hdl.base.signals import Stream, count
from merp.hdl.streams.head import Head
from merp.hdl.streams.serializer import serializer

WIDTH = 8
Beats = list[tuple[list[int], bool]]


def beats_for(lanes: int, number: int, rng: np.random.Generator, full: bool = False) -> Beats:
    """The words of each beat, and whether the run ends with it."""
    sizes = [lanes if full else int(rng.integers(1, lanes + 1)) for _ in range(number)]
    return [
        ([int(w) for w in rng.integers(1 << WIDTH, size=size)], index == number - 1)
        for index, size in enumerate(sizes)
    ]


def bench_for(lanes: int) -> BlockBench:
    return BlockBench(
        serializer, "clk rst start sent",
        beat=Head(1 + len(count(lanes)) + lanes * WIDTH), source=Stream(WIDTH), width=WIDTH,
        lanes=lanes,
    )  # fmt: skip


def run(lanes: int, beats: Beats, offer: float, ready: float, seed: int, cycles: int) -> Recorded:
    """Play ``beats`` twice, as two runs; noise in the lanes that do not count."""
    rng = np.random.default_rng(seed)
    lanes_width = len(count(lanes))
    queue: Beats = []
    runs = 0

    def drive(cycle: int, seen: Sample) -> dict[str, int]:
        nonlocal runs
        if cycle == 0:
            return {"rst": 1}
        values = {"rst": 0, "start": 0, "source_ready": int(rng.random() < ready)}
        if not queue and runs < 2 and (runs == 0 or (seen["sent"] and not seen["start"])):
            queue.extend(beats)
            runs += 1
            return values | {"start": 1, "beat_valid": 0}
        if seen["beat_take"]:
            queue.pop(0)
        if not queue:
            return values | {"beat_valid": 0}
        if not seen["beat_take"] and seen["beat_valid"]:
            return values
        if rng.random() >= offer:
            return values | {"beat_valid": 0}
        words, last = queue[0]
        packed = int(last) << lanes_width | len(words)
        for word in reversed(words + [int(w) for w in rng.integers(256, size=lanes - len(words))]):
            packed = packed << WIDTH | word
        return values | {"beat_valid": 1, "beat_word": packed}

    return bench_for(lanes).run(drive, cycles)


def check(trace: Recorded, beats: Beats) -> None:
    stream = trace.stream("source")
    once = [
        (word, int(last and index == len(words) - 1))
        for words, last in beats
        for index, word in enumerate(words)
    ]
    assert trace.words("source") == once * 2
    for now, after in pairwise(stream):
        if now[0] and not now[1]:
            assert (after[0], *after[2:]) == (1, *now[2:])
    ends = [c + 1 for c, (valid, ready, _, last) in enumerate(stream) if valid and ready and last]
    starts = [c + 1 for c, start in enumerate(trace.column("start")) if start]
    for cycle, sent in enumerate(trace.column("sent")):
        assert sent == any(e <= cycle and not any(e < s <= cycle for s in starts) for e in ends)


@pytest.mark.parametrize("lanes", [1, 2, 3])
@pytest.mark.parametrize(("offer", "ready"), [(1, 1), (1, 0.4), (0.4, 1), (0.5, 0.5)])
def test_words_in_order(lanes: int, offer: float, ready: float) -> None:
    beats = beats_for(lanes, 25, np.random.default_rng(lanes))
    words = sum(len(b[0]) for b in beats)
    check(run(lanes, beats, offer, ready, 3, int(2 * words / min(offer, ready) * 2) + 40), beats)


@pytest.mark.parametrize("lanes", [1, 2, 3])
def test_a_word_per_cycle(lanes: int) -> None:
    beats = beats_for(lanes, 12, np.random.default_rng(lanes), full=True)
    trace = run(lanes, beats, 1, 1, 3, 2 * 12 * lanes + 12)
    check(trace, beats)
    valid = trace.column("source_valid")
    first = valid.index(1)
    assert all(valid[first : first + 12 * lanes])


def test_after_a_reset_it_is_as_new() -> None:
    """It drops the beat, and before the next start no run has been sent."""
    lanes = 2

    def session(number: int) -> Drive:
        rates, pulses = {"beat_valid": 0.7, "source_ready": 0.7}, {"rst": 0, "start": (1, 5)}
        drive = at_random(rates, {"beat_word": lanes * WIDTH}, begin=1, pulses=pulses)(number)

        def drawn(cycle: int, seen: Sample) -> dict[str, int]:
            values = dict(drive(cycle, seen))
            values["beat_word"] |= (int(cycle % 7 == 6) << 2 | 1 + cycle % lanes) << lanes * WIDTH
            return values

        return drawn

    payload = {"source_valid": "source_data source_last"}
    bench_for(lanes).as_new_after_reset(session, range(2, 24, 2), 30, payload=payload)


@pytest.mark.ghdl
@pytest.mark.verilator
@pytest.mark.parametrize("lanes", [1, 3])
def test_vhdl_replays(lanes: int, replays: Replays) -> None:
    beats = beats_for(lanes, 25, np.random.default_rng(lanes))
    trace = run(lanes, beats, 0.7, 0.7, 5, 300)
    check(trace, beats)
    replays(trace, lint=True)
