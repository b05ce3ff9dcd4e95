"""The engine that was started last: from the next cycle on, until another one; resets."""

from random import Random

import pytest

from block_bench import BlockBench, Recorded, Replays, Sample
from merp.hdl.base.signals import bits
from merp.hdl.memory.last_started import last_started

CYCLES = 300
ENGINES = [1, 2, 3, 6]


def bench_of(engines: int) -> BlockBench:
    selected = bits(max(1, (engines - 1).bit_length()))
    return BlockBench(last_started, "clk rst", begins=bits(engines), selected=selected)


def play(engines: int) -> Recorded:
    """Starts of one engine at a time, and resets, some of them together with a start."""
    rng = Random(engines)

    def drive(cycle: int, seen: Sample) -> dict[str, int]:
        begins = 1 << rng.randrange(engines) if rng.random() < 0.4 else 0
        return {"begins": begins, "rst": int(not cycle or rng.random() < 0.1)}

    return bench_of(engines).run(drive, CYCLES)


@pytest.mark.parametrize("engines", ENGINES)
def test_it_is_the_engine_of_the_last_start(engines: int) -> None:
    trace = play(engines)
    last, expected = 0, []
    for begins, rst in trace.columns("begins", "rst"):
        expected.append(last)
        if rst:
            last = 0
        elif begins:
            last = [1 << i for i in range(engines)].index(begins)
    assert trace.column("selected") == expected
    assert set(expected) == set(range(engines))


def test_it_stays_while_none_starts() -> None:
    trace = bench_of(3).run([{"begins": 1 << 2}, *({"begins": 0} for _ in range(20))])
    assert trace.column("selected") == [0] + 20 * [2]


def test_a_reset_wins_over_a_start() -> None:
    trace = bench_of(3).run([{"begins": 1 << 2}, {"begins": 1 << 1, "rst": 1}, {"begins": 0}])
    assert trace.column("selected") == [0, 2, 0]


@pytest.mark.sample(2)
@pytest.mark.ghdl
@pytest.mark.verilator
@pytest.mark.parametrize("engines", ENGINES)
def test_vhdl_replays(engines: int, replays: Replays) -> None:
    assert replays(play(engines), lint=True) == CYCLES
