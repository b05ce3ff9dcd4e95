"""Records of the memory bus: sums of lists, with windows of different widths."""

from dataclasses import replace
from functools import reduce
from operator import add
from random import Random

import pytest

from merp.models.memory.bus_record import (
    BusRecord,
    DirectionRecord,
    MemoryFacts,
    Waits,
    total_of,
)

NARROW, WIDE = MemoryFacts("A", 16, 100, 16), MemoryFacts("A", 64, 100, 64)


def direction(rng: Random, windows: int) -> DirectionRecord:
    found = tuple(rng.randrange(100) for _ in range(windows))
    useful = sum(found) // 2
    hits, misses = rng.randrange(9), rng.randrange(9)
    waits = sorted(rng.randrange(1, 90) for _ in range(3))
    return DirectionRecord(
        useful=useful,
        padding=useful // 3,
        partial=sum(found) - useful - useful // 3,
        beats=hits + misses,
        bursts={rng.randrange(1, 4): rng.randrange(1, 9), 9: 2},
        row_hits=hits,
        row_misses=misses,
        latency=Waits(3, sum(waits), waits[0], waits[-1]),
        windows=found,
    )


def record(rng: Random, memory: MemoryFacts = NARROW) -> BusRecord:
    windows, width = rng.randint(1, 64), 16 << rng.randrange(4)
    return BusRecord(
        lists=1,
        cycles=windows * width - rng.randrange(width),
        window=width,
        read=direction(rng, windows),
        write=direction(rng, windows),
        memories=(memory,),
    )


@pytest.mark.parametrize("seed", range(20))
def test_a_sum_loses_no_byte_and_no_cycle(seed: int) -> None:
    rng = Random(seed)
    several = [record(rng, memory) for memory in (NARROW, WIDE, NARROW, NARROW)]
    found = reduce(add, several)
    assert found == total_of([None, *several])
    assert (found.lists, found.memories) == (4, (NARROW, WIDE))
    assert found.window == max(each.window for each in several)
    assert found.cycles == sum(each.cycles for each in several)
    longest = max(each.cycles for each in several)
    for way in ("read", "write"):
        total, parts = getattr(found, way), [getattr(each, way) for each in several]
        assert sum(total.windows) == total.bytes == sum(each.bytes for each in parts)
        assert len(total.windows) == -(-longest // found.window)
        for name in ("useful", "padding", "partial", "beats", "row_hits", "row_misses"):
            assert getattr(total, name) == sum(getattr(each, name) for each in parts)
        assert total.bursts[9] == 8
        assert sum(total.bursts.values()) == sum(sum(each.bursts.values()) for each in parts)
        assert list(total.bursts) == sorted(total.bursts)
        assert total.latency.least == min(each.latency.least for each in parts)
        assert total.latency.most == max(each.latency.most for each in parts)
        assert total.answer["latency"]["mean"] == sum(e.latency.total for e in parts) / 12


def test_windows_of_a_sum_are_at_the_same_distance_from_the_start() -> None:
    none = DirectionRecord()
    fine = BusRecord(
        lists=1, cycles=70, window=16, read=DirectionRecord(useful=15, windows=(1, 2, 3, 4, 5)),
        write=none,
    )  # fmt: skip
    coarse = replace(fine, cycles=60, window=32, read=DirectionRecord(useful=30, windows=(10, 20)))
    for found in (fine + coarse, coarse + fine):
        assert found.window == 32
        assert found.read.windows == (13, 27, 5)


def test_a_memory_without_a_clock_adds_no_windows() -> None:
    plain = BusRecord(
        lists=1, cycles=0, window=0, read=DirectionRecord(useful=4), write=DirectionRecord()
    )
    assert (plain + plain).read.windows == ()
    timed = record(Random(1))
    found = plain + timed
    assert (found.window, found.read.windows) == (timed.window, timed.read.windows)
    assert found.read.useful == timed.read.useful + 4


def test_a_direction_without_answers_has_no_latency() -> None:
    some = Waits(2, 30, 10, 20)
    assert Waits() + some == some + Waits() == some
    assert Waits().answer == {"least": 0, "mean": 0.0, "most": 0}
    assert total_of([]) is None
