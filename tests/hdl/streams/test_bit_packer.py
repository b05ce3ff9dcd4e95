"""Strings of bits to words: the string, last, stream rules, room and rate."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pytest

from block_bench import BlockBench, Drive, Recorded, Replays, Sample
from merp.hdl.base.signals import Stream
from merp.hdl.streams.bit_packer import bit_packer
from merp.hdl.streams.bit_string import BitString

String = tuple[int, int]  # value, size


@dataclass(frozen=True)
class Pace:
    """How often a string is offered and a word is taken, and when the bench resets."""

    offer: float = 1
    ready: float = 1
    reset_at: int | None = None


FULL = Pace()


def bench_for(largest: int, word: int) -> BlockBench:
    return BlockBench(
        bit_packer, "clk rst start sent", string=BitString(largest), source=Stream(word)
    )  # fmt: skip


def strings_of(sizes: list[int], rng: np.random.Generator) -> list[String]:
    return [(int(rng.integers(1 << size)), size) for size in sizes]


def run(largest: int, word: int, runs: list[list[String]], pace: Pace = FULL) -> Recorded:
    """Play runs back to back; the one that is reset begins again.

    Room in a cycle is known only in that cycle, so the bench keeps account of the bits held.
    """
    rng = np.random.default_rng(largest)
    todo = [list(strings) for strings in runs]
    current: list[String] = []
    left: list[String] = []
    held = 0

    def drive(cycle: int, seen: Sample) -> dict[str, int]:
        nonlocal current, left, held
        values = {"rst": 0, "start": 0, "string_push": 0, "string_flush": 0}
        values |= {"source_ready": int(rng.random() < pace.ready)}
        if cycle in (0, pace.reset_at):
            if cycle:
                todo.insert(0, list(current))
            left, held = [], 0
            return values | {"rst": 1}
        if seen["source_valid"] and seen["source_ready"] and not seen["rst"]:
            held = max(0, held - word)
        if not left:
            if todo and (len(todo) == len(runs) or seen["rst"] or seen["sent"]):
                current = todo.pop(0)
                left = list(current)
                return values | {"start": 1}
            return values
        if held >= 2 * word or rng.random() >= pace.offer:
            return values
        value, size = left.pop(0)
        held += size
        return values | {
            "string_push": 1, "string_value": value, "string_size": size,
            "string_flush": int(not left),
        }  # fmt: skip

    work = sum(sum(size for _, size in s) / word / pace.ready + len(s) / pace.offer for s in runs)
    return bench_for(largest, word).run(drive, 60 + int(3 * work))


def packed(strings: list[String], word: int) -> list[tuple[int, int]]:
    """Words of a run, each with its last."""
    text, length = 0, 0
    for value, size in strings:
        text |= value << length
        length += size
    number = -(-length // word)
    mask = (1 << word) - 1
    return [(text >> i * word & mask, int(i == number - 1)) for i in range(number)]


def check(trace: Recorded, runs: list[list[String]], word: int) -> None:
    names = ("source_valid", "source_ready", "source_data", "source_last", "rst")
    stream = trace.columns(*names)
    starts = [c for c, start in enumerate(trace.column("start")) if start]
    resets = [c for c, rst in enumerate(trace.column("rst")) if rst]
    spans = list(pairwise([*starts, len(stream)]))
    spans = [(a, b) for a, b in spans if not any(a < c < b for c in resets)]
    assert len(spans) == len(runs)
    sent = trace.column("sent")
    for (a, b), strings in zip(spans, runs, strict=True):
        taken = {c: stream[c][2:4] for c in range(a, b) if stream[c][0] and stream[c][1]}
        assert list(taken.values()) == packed(strings, word)
        assert sent[a + 1 : b] == [int(c > max(taken)) for c in range(a + 1, b)]
    for now, after in pairwise(stream):
        if now[0] and not now[1] and not now[4]:
            assert (after[0], *after[2:4]) == (1, *now[2:4])
    held, ending = 0, False
    string = (f"string_{pin}" for pin in ("push", "size", "flush", "room"))
    pins = (*string, "source_valid", "source_ready", "source_last", "rst")
    for push, size, flush, room, valid, ready, last, rst in trace.columns(*pins):
        assert room == (held < 2 * word and not ending)
        assert valid == (held >= word or ending)
        assert not push or room
        held = max(0, held - word) if valid and ready else held
        ending = (ending and not (valid and ready and last)) or bool(push and flush)
        held += push * size
        if rst:
            held, ending = 0, False


def play(largest: int, word: int, runs: list[list[String]], pace: Pace = FULL) -> Recorded:
    trace = run(largest, word, runs, pace)
    check(trace, runs, word)
    return trace


@pytest.mark.parametrize(("largest", "word"), [(1, 8), (2, 8), (5, 8), (9, 8), (16, 8), (3, 4)])
@pytest.mark.parametrize("pace", [FULL, Pace(ready=0.3), Pace(offer=0.3), Pace(0.6, 0.6)], ids=str)
def test_strings_end_to_end(largest: int, word: int, pace: Pace) -> None:
    rng = np.random.default_rng(largest)
    runs = [strings_of(rng.integers(1, largest + 1, 40).tolist(), rng) for _ in range(3)]
    play(largest, word, runs, pace)


@pytest.mark.parametrize("length", [1, 7, 8, 9, 15, 16, 17])
def test_the_last_word_is_filled_up_with_zeros(length: int) -> None:
    """Runs of ones, a bit or all at a time, then one of zeros: nothing is left of them."""
    ones = [(1, 1)] * length
    play(17, 8, [ones, [((1 << length) - 1, length)], ones, [(0, 1)] * length], Pace(ready=0.5))


@pytest.mark.parametrize("size", [1, 4, 5, 8])
def test_a_string_per_cycle(size: int) -> None:
    rng = np.random.default_rng(size)
    push = play(9, 8, [strings_of([size] * 30, rng)]).column("string_push")
    assert all(push[push.index(1) :][:30])


@pytest.mark.parametrize("size", [9, 16])
def test_a_word_per_cycle(size: int) -> None:
    """Strings longer than a word wait, and no cycle of the stream is lost."""
    rng = np.random.default_rng(size)
    valid = play(16, 8, [strings_of([size] * 24, rng)]).column("source_valid")
    assert all(valid[valid.index(1) :][: size * 24 // 8])


@pytest.mark.parametrize("reset_at", [3, 4, 5, 8, 13, 14, 15])
def test_reset_drops_the_bits(reset_at: int) -> None:
    ones = [((1 << 9) - 1, 9)] * 4
    play(9, 8, [ones, [(0, 9)] * 4], Pace(ready=0.4, reset_at=reset_at))


def test_after_a_reset_it_is_as_new() -> None:
    """Before the next start as well: no run has been sent."""

    def session(number: int) -> Drive:
        def drive(cycle: int, _: Sample) -> dict[str, int]:
            # Strings so rare, and words taken so soon, that there is always room.
            return {
                "rst": int(cycle == 0), "start": int(cycle == (1, 4)[number]),
                "source_ready": int(cycle % 4 > 0), "string_value": cycle + number,
                "string_push": int(cycle > 4 and cycle % 3 == 0), "string_size": 6,
                "string_flush": int(cycle % 9 == 0),
            }  # fmt: skip

        return drive

    payload = {"source_valid": "source_data source_last"}
    bench_for(6, 8).as_new_after_reset(session, range(2, 30), 40, payload=payload)


@pytest.mark.sample(1)
@pytest.mark.ghdl
@pytest.mark.verilator
@pytest.mark.parametrize(("largest", "word"), [(9, 8), (1, 8), (16, 8)])
def test_vhdl_replays(largest: int, word: int, replays: Replays) -> None:
    rng = np.random.default_rng(largest)
    runs = [strings_of(rng.integers(1, largest + 1, 25).tolist(), rng) for _ in range(2)]
    replays(play(largest, word, runs, Pace(0.8, 0.6, reset_at=20)), lint=True)
