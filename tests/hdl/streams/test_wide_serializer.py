"""Beats to packed beats of several words: order, last, stream rules, rate, what does not count."""

from itertools import pairwise

import numpy as np
import pytest

from block_bench import BlockBench, Drive, Recorded, Replays, Sample, at_random
from merp.hdl.base.signals import Stream, bits, count
from merp.hdl.streams.head import Head
from merp.hdl.streams.wide_serializer import wide_serializer

WIDTH = 8
Beats = list[list[int]]
"""Words of each beat of a run."""


def beats_for(lanes: int, number: int, seed: int, full: bool = False) -> Beats:
    rng = np.random.default_rng(seed)
    sizes = [lanes if full else int(rng.integers(1, lanes + 1)) for _ in range(number)]
    return [[int(word) for word in rng.integers(1 << WIDTH, size=size)] for size in sizes]


def bench_for(lanes: int, out: int) -> BlockBench:
    source = Stream(out * WIDTH)
    source.keep = bits(out)
    return BlockBench(
        wide_serializer, "clk rst start sent",
        beat=Head(1 + len(count(lanes)) + lanes * WIDTH), source=source, width=WIDTH, lanes=lanes,
    )  # fmt: skip


def run(
    lanes: int, out: int, runs: list[Beats], offer: float, ready: float, cut: int | None = None
) -> Recorded:
    """Play ``runs``, with noise in lanes that do not count; ``cut``: cycle of a reset.

    After that the runs begin again.
    """
    rng = np.random.default_rng(7)
    lanes_width = len(count(lanes))
    queue: list[tuple[list[int], bool]] = []
    left = list(runs)

    def drive(cycle: int, seen: Sample) -> dict[str, int]:
        nonlocal left
        if cycle == 0 or cycle == cut:
            queue.clear()
            left = list(runs)
            return {"rst": 1, "beat_valid": 0}
        values = {"rst": 0, "start": 0, "source_ready": int(rng.random() < ready)}
        fresh = len(left) == len(runs)
        if not queue and left and (fresh or (seen["sent"] and not seen["start"])):
            beats = left.pop(0)
            queue.extend((words, i == len(beats) - 1) for i, words in enumerate(beats))
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

    words = sum(len(beat) for beats in runs for beat in beats)
    return bench_for(lanes, out).run(drive, int(words / min(offer, ready) * 2) + 60)


def check(trace: Recorded, out: int, runs: list[Beats], begin: int = 0) -> None:
    stream = trace.stream("source", "keep")[begin:]
    got = [rest for valid, ready, *rest in stream if valid and ready]
    wanted = []
    for beats in runs:
        words = [word for beat in beats for word in beat]
        for at in range(0, len(words), out):
            some = words[at : at + out]
            data = sum(word << WIDTH * i for i, word in enumerate(some))
            wanted.append([data, int(at + out >= len(words)), (1 << len(some)) - 1])
    assert got == wanted
    for now, after in pairwise(stream):
        if now[0] and not now[1]:
            assert (after[0], *after[2:]) == (1, *now[2:])


@pytest.mark.parametrize(("lanes", "out"), [(1, 2), (2, 2), (3, 2), (2, 8), (5, 4), (7, 2)])
@pytest.mark.parametrize(("offer", "ready"), [(1, 1), (1, 0.4), (0.5, 0.5)])
def test_words_in_order(lanes: int, out: int, offer: float, ready: float) -> None:
    runs = [beats_for(lanes, number, number) for number in (25, 1, 6, 12)]
    check(run(lanes, out, runs, offer, ready), out, runs)


@pytest.mark.parametrize(("lanes", "out"), [(1, 4), (2, 2), (3, 4), (4, 2), (8, 4)])
def test_the_narrower_side_never_waits(lanes: int, out: int) -> None:
    runs = [beats_for(lanes, 24, 3, full=True)]
    trace = run(lanes, out, runs, 1, 1)
    check(trace, out, runs)
    busy = trace.column("beat_take") if lanes <= out else trace.column("source_valid")
    first = busy.index(1)
    assert all(busy[first : first + 24 * lanes // max(lanes, out)])


def test_a_reset_drops_what_is_held() -> None:
    runs = [beats_for(3, 2, 4), beats_for(3, 9, 5)]
    for cut in range(3, 12):  # the run's last words wait in some of these cycles
        trace = run(3, 4, runs, 1, 0.3, cut=cut)
        check(trace, 4, runs, begin=cut + 1)


def test_after_a_reset_it_is_as_new() -> None:
    """Before the next start as well: no run has been sent."""
    lanes, out = 3, 4

    def session(number: int) -> Drive:
        rates, pulses = {"beat_valid": 0.7, "source_ready": 0.7}, {"rst": 0, "start": (1, 5)}
        drive = at_random(rates, {"beat_word": lanes * WIDTH}, begin=1, pulses=pulses)(number)

        def drawn(cycle: int, seen: Sample) -> dict[str, int]:
            values = dict(drive(cycle, seen))
            values["beat_word"] |= (1 + cycle % lanes) << lanes * WIDTH
            values["beat_word"] |= int(cycle % 7 == 6) << lanes * WIDTH + len(count(lanes))
            return values

        return drawn

    payload = {"source_valid": "source_data source_last source_keep"}
    bench_for(lanes, out).as_new_after_reset(session, range(2, 24, 2), 30, payload=payload)


@pytest.mark.ghdl
@pytest.mark.verilator
@pytest.mark.parametrize(("lanes", "out"), [(3, 4)])
def test_vhdl_replays(lanes: int, out: int, replays: Replays) -> None:
    runs = [beats_for(lanes, number, number) for number in (25, 2, 7)]
    trace = run(lanes, out, runs, 0.7, 0.7)
    check(trace, out, runs)
    replays(trace, lint=True)
