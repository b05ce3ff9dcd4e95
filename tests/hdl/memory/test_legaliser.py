"""Bursts of runs: each one against the golden model, with pauses, resets and the VHDL."""

from collections.abc import Mapping, Sequence
from random import Random

import pytest

from block_bench import BlockBench, Recorded, Replays, Sample, at_random
from merp.hdl.memory.legaliser import legaliser
from merp.hdl.memory.requests import Bursts, Runs
from merp.models.memory.bursts import bursts_of
from merp.models.memory.params.memory_port import MemoryPort
from merp.models.memory.params.mover import Mover
from merp.models.memory.walk import Run

MOVER = Mover(port=MemoryPort(data_bits=64, burst_beats=8), word_bits=16)
WHOLE = Mover(port=MemoryPort(data_bits=64, burst_beats=256), word_bits=64, places=256)
NARROW = Mover(port=MemoryPort(data_bits=512, burst_beats=2, address_bits=40), word_bits=8)


def bench(mover: Mover) -> BlockBench:
    return BlockBench(legaliser, "clk rst", runs=Runs(mover), bursts=Bursts(mover), mover=mover)


def play(
    runs: Sequence[Run], mover: Mover = MOVER, offered: float = 1.0, taken: float = 1.0
) -> Recorded:
    rng = Random(f"{offered} {taken}")
    left = list(runs)
    inputs = {"runs_valid": 0, "runs_address": 0, "runs_length": 0, "runs_last": 0}

    def drive(cycle: int, seen: Sample) -> Mapping[str, int]:
        if inputs["runs_valid"] and seen["runs_ready"]:
            inputs["runs_valid"] = 0
        if cycle and left and not inputs["runs_valid"] and rng.random() < offered:
            run = left.pop(0)
            inputs.update(
                runs_valid=1,
                runs_address=run.address,
                runs_length=run.words - 1,
                runs_last=not left,
            )
        ready = int(rng.random() < taken)
        return {**inputs, "rst": int(cycle == 0), "bursts_ready": ready}

    total = len(list(bursts_of(runs, mover))) + 5
    return bench(mover).run(drive, int(total * 1.4 / offered / taken))


FIELDS = [f"bursts_{name}" for name in ("address", "length", "first", "final", "last")]


def found(trace: Recorded) -> list[tuple[int, ...]]:
    rows = trace.columns("bursts_valid", "bursts_ready", *FIELDS)
    return [row[2:] for row in rows if row[0] and row[1]]


def wanted(runs: Sequence[Run], mover: Mover = MOVER) -> list[tuple[int, ...]]:
    return [
        (each.address, each.beats - 1, each.first, each.final, int(each.last))
        for each in bursts_of(runs, mover)
    ]


def at_borders(mover: Mover) -> list[Run]:
    """Runs that end just before a border of a beat and of a block, at it, and just behind it."""
    block = mover.port.burst_beats * mover.lanes
    ends = [mover.lanes - 1, mover.lanes, mover.lanes + 1, block - 1, block, block + 1, 2 * block]
    return [
        Run(3 * block + begin, end - begin)
        for begin in sorted({0, 1, mover.lanes - 1, mover.lanes, block - 1})
        for end in ends
        if begin < end
    ]


@pytest.mark.parametrize("mover", [MOVER, WHOLE, NARROW])
def test_runs_at_the_borders_of_beats_and_blocks(mover: Mover) -> None:
    runs = at_borders(mover)
    trace = play(runs, mover)
    assert found(trace) == wanted(runs, mover)
    first = trace.column("bursts_valid").index(1)
    bursts = len(wanted(runs, mover))
    assert trace.column("bursts_valid")[first:][:bursts] == [1] * bursts, "a burst per cycle"
    assert trace.column("runs_valid").index(1) == first - 2, "two cycles after the run"


def test_a_burst_is_offered_before_it_is_taken() -> None:
    run = {"runs_valid": 1, "runs_address": 5, "runs_length": 2, "runs_last": 1}
    trace = bench(MOVER).run(lambda cycle, _: {**run, "rst": int(not cycle), "bursts_ready": 0}, 6)
    assert trace.columns("bursts_valid", *FIELDS)[-1] == (1, 1, 0, 1, 3, 1)


def test_the_last_words_of_the_address_space() -> None:
    top = 1 << MOVER.address_bits
    runs = [Run(top - 1, 1), Run(top - 33, 33), Run(0, 5)]
    assert found(play(runs)) == wanted(runs)


def test_a_long_run() -> None:
    runs = [Run(5, 40_000), Run(1, 1)]
    assert found(play(runs)) == wanted(runs)


@pytest.mark.parametrize("rates", [(1.0, 0.5), (0.5, 1.0), (0.7, 0.7)])
@pytest.mark.parametrize("mover", [MOVER, WHOLE, NARROW])
def test_random_runs_with_pauses(mover: Mover, rates: tuple[float, float]) -> None:
    rng = Random(2)
    runs = [Run(rng.randrange(1 << 24), rng.choice([1, 2, 3, 9, 50])) for _ in range(40)]
    assert found(play(runs, mover, *rates)) == wanted(runs, mover)


def test_a_reset_leaves_nothing_behind() -> None:
    session = at_random(
        {"runs_valid": 0.5, "bursts_ready": 0.6, "runs_last": 0.5},
        {"runs_address": 9},
        ({"runs_length": 99}, {"runs_length": 6}),
        pulses={"rst": 0},
    )
    payload = {"bursts_valid": " ".join(FIELDS)}
    bench(MOVER).as_new_after_reset(session, range(3, 24, 2), 40, payload=payload)


@pytest.mark.sample(1)
@pytest.mark.ghdl
@pytest.mark.parametrize("mover", [MOVER, WHOLE, NARROW])
def test_legaliser_vhdl(mover: Mover, replays: Replays) -> None:
    replays(play(at_borders(mover), mover, 0.7, 0.7), lint=True)
