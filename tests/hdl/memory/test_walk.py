"""Walks: every run against the golden model, with pauses, resets and the VHDL."""

from collections.abc import Mapping, Sequence
from random import Random

import pytest
from movers import config_inputs, drawn_walk

from block_bench import BlockBench, Recorded, Replays, Sample, at_random
from merp.hdl.memory.requests import Runs, WalkConfig
from merp.hdl.memory.walk import walk
from merp.models.memory.params.memory_port import MemoryPort
from merp.models.memory.params.mover import Mover
from merp.models.memory.walk import Dimension, Walk

MOVER = Mover(port=MemoryPort(data_bits=64), word_bits=16, count_bits=6)
BENCH = BlockBench(walk, "clk rst start", config=WalkConfig(MOVER), runs=Runs(MOVER), mover=MOVER)


def play(walks: Sequence[Walk], taken: float = 1.0) -> Recorded:
    """Walk one after the other, each from its start to its last run."""
    rng = Random(f"{taken}")
    left = list(walks)
    owed = 0
    inputs: dict[str, int] = {}

    def drive(cycle: int, seen: Sample) -> Mapping[str, int]:
        nonlocal owed
        owed -= bool(cycle and seen["runs_valid"] and seen["runs_ready"])
        start = cycle > 0 and not owed and bool(left)
        if start:
            present = left.pop(0)
            owed = len(list(present.runs()))
            inputs.update(config_inputs(present, MOVER))
        ready = int(rng.random() < taken)
        return {**inputs, "rst": int(cycle == 0), "start": int(start), "runs_ready": ready}

    total = sum(len(list(each.runs())) + 2 for each in walks)
    return BENCH.run(drive, 4 + int(total * 1.3 / taken))


def found(trace: Recorded, begin: int = 0) -> list[tuple[int, ...]]:
    rows = trace.columns("runs_valid", "runs_ready", "runs_address", "runs_length", "runs_last")
    return [row[2:] for row in rows[begin:] if row[0] and row[1]]


def wanted(walks: Sequence[Walk]) -> list[tuple[int, ...]]:
    runs = [list(each.runs()) for each in walks]
    return [
        (run.address, run.words - 1, int(at == len(each) - 1))
        for each in runs
        for at, run in enumerate(each)
    ]


BY_HAND = [
    Walk(5, 3),
    Walk(0, 1, (Dimension(1, 7),) * 4),
    Walk(100, 2, (Dimension(2, 10), Dimension(3, -20), Dimension(1, 5), Dimension(2, 1))),
    Walk(9, 4, (Dimension(3, 0),)),
    Walk((1 << 31) - 4, 2, (Dimension(2, 2),)),
]


def test_walks_by_hand() -> None:
    assert found(play(BY_HAND)) == wanted(BY_HAND)


@pytest.mark.parametrize("taken", [1.0, 0.5])
def test_random_walks(taken: float) -> None:
    rng = Random(1)
    walks = [drawn_walk(rng, MOVER) for _ in range(12)]
    assert found(play(walks, taken)) == wanted(walks)


def test_a_run_in_every_cycle_from_the_cycle_after_start_on() -> None:
    trace = play([BY_HAND[2]])
    starts = [at for at, high in enumerate(trace.column("start")) if high]
    valid = [at for at, high in enumerate(trace.column("runs_valid")) if high]
    assert valid == list(range(starts[0] + 1, starts[0] + 13))


def test_a_reset_leaves_nothing_behind() -> None:
    walks = [config_inputs(drawn_walk(Random(seed), MOVER), MOVER) for seed in (3, 4)]
    session = at_random({"runs_ready": 0.6}, fixed=tuple(walks))
    payload = {"runs_valid": "runs_address runs_length runs_last"}
    BENCH.as_new_after_reset(session, range(3, 24, 2), 40, payload=payload)


def test_a_reset_ends_a_walk() -> None:
    config = config_inputs(BY_HAND[2], MOVER) | {"runs_ready": 1}
    rows = [{**config, "rst": int(at in (0, 5)), "start": int(at == 1)} for at in range(12)]
    assert BENCH.run(rows).column("runs_valid") == [0, 0, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0]


@pytest.mark.parametrize("cut", range(2, 14))
def test_a_start_begins_anew_wherever_the_walk_is(cut: int) -> None:
    walks = (BY_HAND[2], BY_HAND[3])

    def drive(cycle: int, seen: Sample) -> Mapping[str, int]:
        config = config_inputs(walks[cycle >= cut], MOVER)
        return {**config, "rst": int(not cycle), "start": int(cycle in (1, cut)), "runs_ready": 1}

    trace = BENCH.run(drive, cut + 6)
    assert found(trace, cut + 1) == wanted(walks[1:])


@pytest.mark.ghdl
def test_walk_vhdl(replays: Replays) -> None:
    replays(play([*BY_HAND, drawn_walk(Random(5), MOVER)], 0.7), lint=True)
