"""Accesses of registers of several engines: answers, refusals, one at a time, and the VHDL."""

from collections.abc import Mapping
from random import Random

import pytest

from block_bench import BlockBench, Recorded, Replays, Sample
from merp.hdl.axi.axi_lite import AxiLite
from merp.hdl.axi.lite_manager import RegisterAccess, lite_manager
from merp.hdl.base.signals import Bundles
from merp.testbenches.memory.lite_pins import LiteRegisters

ENGINES = 3
SIZE = 20
BENCH = BlockBench(
    lite_manager,
    "clk rst",
    access=RegisterAccess(),
    engines=Bundles({f"e{at}": AxiLite() for at in range(ENGINES)}),
)


class Engine:
    """Registers of an engine; the first two cannot be written."""

    def __init__(self, number: int) -> None:
        self.words = [1000 * number + at for at in range(SIZE)]
        self.log: list[tuple[int, int]] = []

    def write(self, index: int, word: int) -> bool:
        accepted = 2 <= index < SIZE
        if accepted:
            self.words[index] = word
            self.log.append((index, word))
        return accepted

    def read(self, index: int) -> int | None:
        return self.words[index] if index < SIZE else None


class Play:
    def __init__(self, accesses: list[tuple[int, int | None]], seed: int = 1) -> None:
        self.left = list(accesses)
        self.engines = [Engine(at) for at in range(ENGINES)]
        self.buses = [
            LiteRegisters(engine, f"engines_e{at}_", seed + at)
            for at, engine in enumerate(self.engines)
        ]
        self.answers: list[tuple[int, int]] = []
        self.rng = Random(seed)
        self.reads = False
        self.busy = False

    def drive(self, cycle: int, seen: Sample) -> Mapping[str, int]:
        inputs = {"rst": int(not cycle), "access_begin": 0}
        if cycle and seen["access_done"]:
            word = seen["access_word"] if self.reads and not seen["access_refused"] else 0
            self.answers.append((seen["access_refused"], word))
            self.busy = False
        if cycle > 1 and self.left and not self.busy and self.rng.random() < 0.7:
            index, word = self.left.pop(0)
            self.busy, self.reads = True, word is None
            inputs |= {
                "access_begin": 1, "access_index": index, "access_writes": int(word is not None),
                "access_data": word or 0,
            }  # fmt: skip
        for bus in self.buses:
            inputs |= bus.step(seen)
        return inputs

    def run(self, cycles: int) -> Recorded:
        return BENCH.run(self.drive, cycles)


def wanted(accesses: list[tuple[int, int | None]]) -> list[tuple[int, int]]:
    engines = [Engine(at) for at in range(ENGINES)]
    found = []
    for index, word in accesses:
        engine, place = divmod(index, 1024)
        if engine >= ENGINES:
            found.append((1, 0))
        elif word is None:
            value = engines[engine].read(place)
            found.append((int(value is None), value or 0))
        else:
            found.append((int(not engines[engine].write(place, word)), 0))
    return found


def drawn(seed: int) -> list[tuple[int, int | None]]:
    rng = Random(seed)
    places = [0, 1, 2, 7, SIZE - 1, SIZE, 1023]
    return [
        (
            1024 * rng.choice([0, 1, 2, 2, 3, 63]) + rng.choice(places),
            rng.choice([None, rng.getrandbits(32)]),
        )
        for _ in range(40)
    ]


@pytest.mark.parametrize("seed", range(5))
def test_random_accesses(seed: int) -> None:
    accesses = drawn(seed)
    play = Play(accesses, seed)
    play.run(700)
    assert play.answers == wanted(accesses)
    other = [Engine(at) for at in range(ENGINES)]
    for index, word in accesses:
        if word is not None and index // 1024 < ENGINES:
            other[index // 1024].write(index % 1024, word)
    assert [each.log for each in play.engines] == [each.log for each in other]


def test_a_word_stays_until_the_next_read() -> None:
    trace = Play([(5, None)]).run(60)
    done = trace.column("access_done").index(1)
    assert set(trace.column("access_word")[done:]) == {5}


@pytest.mark.ghdl
def test_lite_manager_vhdl(replays: Replays) -> None:
    replays(Play(drawn(9), 9).run(300), lint=True)
