"""FIFO with credits against a queue."""

from collections import deque
from random import Random

import numpy as np
import pytest

from block_bench import BlockBench, Drive, Recorded, Replays, Sample
from merp.hdl.base.signals import bits
from merp.hdl.streams.credit_fifo import credit_fifo

WIDTH = 12


def run(
    words: int, total: int, send: float, take: float, seed: int, reset_at: int | None = None
) -> Recorded:
    """Send ``total`` words whenever there is a credit, with the given probabilities."""
    rng = np.random.default_rng(seed)
    bench = BlockBench(
        credit_fifo, "clk rst push head_valid take credit", data=bits(WIDTH), head=bits(WIDTH),
        words=words,
    )  # fmt: skip
    queue: deque[int] = deque()
    credit, sent, taken = words, 0, 0

    def drive(cycle: int, seen: Sample) -> dict[str, int]:
        nonlocal credit, sent, taken
        if cycle == 0 or cycle == reset_at:
            queue.clear()
            credit = words
            return {"rst": 1, "push": 0, "take": 0}
        if not seen["rst"]:
            credit += seen["credit"]
            if seen["push"]:
                queue.append(seen["data"])
            if seen["head_valid"]:
                assert seen["head"] == queue[0], f"cycle {cycle}"
                if seen["take"]:
                    queue.popleft()
                    taken += 1
        assert credit <= words
        values = {"rst": 0, "push": 0, "take": 0}
        if credit and sent < total and rng.random() < send:
            credit -= 1
            sent += 1
            values |= {"push": 1, "data": int(rng.integers(1 << WIDTH))}
        # Combinational in the reader: head_valid of this cycle is known from the last one.
        holds = seen["head_valid"] and not (seen["take"] and not seen["rst"])
        values["take"] = int(bool(holds) and not seen["rst"] and rng.random() < take)
        return values

    trace = bench.run(drive, int(total / min(send, take)) * 4 + 60)
    assert sent == total
    if reset_at is None:
        assert taken == total
        assert sum(trace.column("credit")) == total
    assert not queue
    return trace


@pytest.mark.parametrize("words", [1, 2, 3, 8])
@pytest.mark.parametrize(("send", "take"), [(1, 1), (1, 0.3), (0.3, 1), (0.6, 0.6)])
def test_matches_a_queue(words: int, send: float, take: float) -> None:
    run(words, 60, send, take, words)


def always_taken(words: int, total: int) -> Recorded:
    """Push whenever there is a credit, take whenever there is a head."""
    bench = BlockBench(
        credit_fifo, "clk rst push head_valid take credit", data=bits(WIDTH), head=bits(WIDTH),
        words=words,
    )  # fmt: skip
    credit = words

    def drive(cycle: int, seen: Sample) -> dict[str, int]:
        nonlocal credit
        credit += seen.get("credit", 0)
        push = int(credit > 0 and cycle < total)
        credit -= push
        return {"push": push, "data": cycle, "take": 1}

    return bench.run(drive, total + 6)


def test_latency_and_a_word_per_cycle() -> None:
    trace = always_taken(4, 20)
    valid, head = trace.column("head_valid"), trace.column("head")
    assert valid == [0, 0, *[1] * 20, 0, 0, 0, 0]
    assert head[2:22] == list(range(20))


def test_all_places_are_used() -> None:
    bench = BlockBench(
        credit_fifo, "clk rst push head_valid take credit", data=bits(WIDTH), head=bits(WIDTH),
        words=3,
    )  # fmt: skip

    def drive(cycle: int, seen: Sample) -> dict[str, int]:
        # Three places and the head register: four words go in before one is taken.
        return {"push": int(cycle < 4), "data": 100 + cycle, "take": int(cycle >= 10)}

    trace = bench.run(drive, 16)
    assert sum(trace.column("credit")[:11]) == 1
    assert trace.column("head")[10:14] == [100, 101, 102, 103]
    assert trace.column("head_valid")[10:16] == [1, 1, 1, 1, 0, 0]


@pytest.mark.parametrize("reset_at", [4, 5, 6, 9, 17])
def test_reset_empties(reset_at: int) -> None:
    run(4, 40, 0.8, 0.4, reset_at, reset_at)


def test_after_a_reset_it_is_as_new() -> None:
    """The four words that a sender owns credits for, and a reader that takes when it likes."""
    bench = BlockBench(
        credit_fifo, "clk rst push head_valid take credit", data=bits(WIDTH), head=bits(WIDTH),
        words=4,
    )  # fmt: skip

    def session(number: int) -> Drive:
        def drive(cycle: int, seen: Sample) -> dict[str, int]:
            rng = Random(f"{number} {cycle}")
            push = int(0 < cycle < 5)
            data, take = rng.getrandbits(WIDTH), int(rng.random() < 0.4)
            return {"rst": int(cycle == 0), "push": push, "data": data, "take": take}

        return drive

    payload = {"head_valid": "head"}
    bench.as_new_after_reset(session, range(1, 20), 20, payload=payload)


@pytest.mark.ghdl
@pytest.mark.verilator
def test_vhdl_replays(replays: Replays) -> None:
    replays(run(3, 60, 0.7, 0.6, 1, reset_at=20), lint=True)
