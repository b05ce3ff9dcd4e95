"""Lanes of MACs: each tile's sums against integers, the twin's bits in every cycle."""

from random import Random
from typing import Any

import pytest

from block_bench import BlockBench, Drive, Replays, Sample
from cpp_twins import either, in_cpp
from merp.hdl.mac_array.array.mac_array import mac_array
from merp.hdl.mac_array.behavioural.mac_array import mac_array_fast
from merp.hdl.mac_array.ports.operands import Operands, Rank
from merp.models.machines.mac_array.params.design import WORD_BITS, ArrayDesign
from merp.testbenches.mac_array.array_bench import (
    INPUTS,
    BenchSlot,
    random_tiles,
    run_array,
    tiles_of,
)
from merp.testbenches.mac_array.designs import small_design
from merp.testbenches.mac_array.words import number

SMALL = small_design()
CPP = in_cpp(mac_array)


def summed(slots: list[BenchSlot], design: ArrayDesign) -> list[list[list[int]]]:
    """The definition: of each tile, of each MAC and the bias gradients, of each lane."""
    sums = [[0] * design.pof for _ in range(design.pixels + 1)]
    tiles = []
    for slot in slots:
        for m, c in ((m, c) for m in range(design.pixels) for c in range(design.pof)):
            product = number(slot.pixels[m]) * number(slot.weights[c])
            sums[m][c] = product + (0 if slot.first else sums[m][c])
        for c in range(design.pof):
            if slot.biased:
                sums[-1][c] = number(slot.weights[c]) + (0 if slot.first else sums[-1][c])
        if slot.last:
            tiles.append([list(row) for row in sums])
    return tiles


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("block", "design"),
    [
        (mac_array, SMALL),
        (mac_array_fast, SMALL),
        (mac_array_fast, small_design(8, 4, 8)),
        (mac_array_fast, small_design(4, 8, 16)),
        pytest.param(CPP, small_design(8, 4, 8), marks=pytest.mark.verilator),
        pytest.param(CPP, small_design(4, 8, 16), marks=[pytest.mark.verilator, pytest.mark.full]),
    ],
)
def test_tiles_are_summed(block: Any, design: ArrayDesign) -> None:
    rng = Random(design.pixels)
    slots = random_tiles(design, 12, rng)
    trace = run_array(block, design, slots, rng)
    assert tiles_of(trace, design) == summed(slots, design)


@pytest.mark.parametrize("last", [0, 5])
def test_latency_and_throughput(last: int) -> None:
    """Slots back to back: the copy is seen four cycles after the last one."""
    design = SMALL
    slots = [BenchSlot((1,) * 16, (1,) * 4, t == 0, t == last) for t in range(last + 1)]
    trace = run_array(mac_array, design, slots, Random(0), rate=1.0)
    issued = [t for t, valid in enumerate(trace.column("operands_valid")) if valid]
    assert issued == list(range(1, last + 2))
    assert trace.column("rank_copied").index(1) == issued[-1] + 4
    assert tiles_of(trace, design)[0][0] == [last + 1] * 4


def anything(seed: int, resets: float) -> Drive:
    def drive(cycle: int, _: Sample) -> dict[str, int]:
        rng = Random(f"{seed} {cycle}")
        wide = {
            "operands_pixels": WORD_BITS * SMALL.pixels,
            "operands_weights": WORD_BITS * SMALL.pof,
        }
        values = {name: int(rng.random() < 0.4) for name in INPUTS}
        values |= {name: rng.getrandbits(width) for name, width in wide.items()}
        values["rst"] = int(cycle == 0 or rng.random() < resets)
        values["rank_place"] = rng.randrange(SMALL.pixels + 1)
        return values

    return drive


def bench_of(block: Any) -> BlockBench:
    return BlockBench(block, "clk rst", operands=Operands(SMALL), rank=Rank(SMALL), design=SMALL)


def test_the_twin_has_the_same_bits_in_every_cycle() -> None:
    """Anything goes: reads while a tile is copied, biases in any tile, resets."""
    traces = [bench_of(block).run(anything(3, 0.05), 400) for block in (mac_array, mac_array_fast)]
    assert traces[0].rows == traces[1].rows
    assert sum(traces[0].column("rank_copied")) > 30


@pytest.mark.verilator
def test_both_twins_have_the_same_bits_in_every_cycle() -> None:
    traces = [bench_of(block).run(anything(4, 0.05), 400) for block in (CPP, mac_array_fast)]
    assert traces[0].rows == traces[1].rows
    assert sum(traces[0].column("rank_copied")) > 30


@pytest.mark.sample(1)
@pytest.mark.parametrize("block", either(mac_array))
def test_a_reset_copies_nothing_more(block: Any) -> None:
    def session(number_of: int) -> Drive:
        drive = anything(number_of, 0.0)

        def begun(cycle: int, seen: Sample) -> dict[str, int]:
            values = dict(drive(cycle, seen))
            if number_of == 1:
                values["operands_valid"] = int(cycle > 0)
                values["operands_first"] = values["operands_biased"] = int(cycle == 1)
            return values

        return begun

    bench_of(block).as_new_after_reset(session, range(6, 10), 30, late={"rank_sums": 30})


@pytest.mark.ghdl
def test_vhdl_replays(replays: Replays) -> None:
    rng = Random(5)
    replays(run_array(mac_array, SMALL, random_tiles(SMALL, 6, rng), rng))
