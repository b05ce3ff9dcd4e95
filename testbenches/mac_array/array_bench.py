"""Bench of the array: tiles of random slots, and the sums read from the second rank."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from random import Random
from typing import Any

from merp.hdl.base.signals import flag
from merp.hdl.mac_array.ports.operands import Operands, Rank
from merp.models.machines.mac_array.params.design import SUM_BITS, WORD_BITS, ArrayDesign
from merp.testbenches.block.trace import Sample, Trace, run_block
from merp.testbenches.mac_array.words import any_word, joined, parted

INPUTS = (
    "rst", "operands_valid", "operands_first", "operands_last", "operands_biased",
    "operands_pixels", "operands_weights", "rank_place",
)  # fmt: skip


@dataclass(frozen=True)
class BenchSlot:
    """A slot: words of all MACs and lanes, and its flags."""

    pixels: tuple[int, ...]
    weights: tuple[int, ...]
    first: bool = False
    last: bool = False
    biased: bool = False


def random_tiles(design: ArrayDesign, tiles: int, rng: Random) -> list[BenchSlot]:
    """Return tiles of one to five slots; the first tile has one slot with minimum words."""
    slots = [BenchSlot((0x8000,) * design.pixels, (0x8000,) * design.pof, True, True, True)]
    for _ in range(tiles - 1):
        size, biased = rng.randint(1, 5), rng.random() < 0.5
        slots += [
            BenchSlot(
                tuple(any_word(rng) for _ in range(design.pixels)),
                tuple(any_word(rng) for _ in range(design.pof)),
                i == 0,
                i == size - 1,
                biased,
            )
            for i in range(size)
        ]
    return slots


def run_array(
    block: Callable[..., Any],
    design: ArrayDesign,
    slots: list[BenchSlot],
    rng: Random,
    rate: float = 0.7,
) -> Trace:
    """Issue slots by the rule of the second rank, and read each tile in a random order.

    The last slot of a tile waits until the sums of the previous tile are read. Cycles without a
    slot have noise on the operands.
    """
    rank = Rank(design)
    args = {
        "clk": flag(), "rst": flag(), "operands": Operands(design), "rank": rank, "design": design,
    }  # fmt: skip
    coming = list(slots)
    reads: list[int] = []
    undrained = False

    def drive(cycle: int, seen: Sample) -> Mapping[str, int]:
        nonlocal undrained
        values = {
            "rst": int(cycle == 0),
            "operands_valid": 0,
            "operands_first": rng.getrandbits(1),
            "operands_last": rng.getrandbits(1),
            "operands_biased": rng.getrandbits(1),
            "operands_pixels": rng.getrandbits(WORD_BITS * design.pixels),
            "operands_weights": rng.getrandbits(WORD_BITS * design.pof),
            "rank_place": rng.randrange(design.pixels + 1),
        }
        if seen and seen["rank_copied"]:
            reads.extend(rng.sample(range(design.pixels + 1), design.pixels + 1))
        if reads:
            values["rank_place"] = reads.pop()
            undrained = undrained and bool(reads)
        free = coming and cycle > 0 and not (coming[0].last and undrained)
        if free and rng.random() < rate:
            slot = coming.pop(0)
            undrained |= slot.last
            values |= {
                "operands_valid": 1,
                "operands_first": int(slot.first),
                "operands_last": int(slot.last),
                "operands_biased": int(slot.biased),
                "operands_pixels": joined(slot.pixels),
                "operands_weights": joined(slot.weights),
            }
        return values

    tiles = sum(slot.last for slot in slots)
    cycles = int(3 * len(slots) / rate) + tiles * (design.pixels + 12) + 20
    trace = run_block(block, args, INPUTS, drive, cycles, quick=True)
    assert not coming, "the run was too short"
    assert not reads, "the run was too short"
    return trace


def tiles_of(trace: Trace, design: ArrayDesign) -> list[list[list[int]]]:
    """Return the sums that were read, by tile, by MAC (the bias is last) and by lane."""
    copied, place = trace.column("rank_copied"), trace.column("rank_place")
    sums = trace.column("rank_sums")
    found = []
    for t, is_copied in enumerate(copied):
        if is_copied:
            tile: list[list[int]] = [[]] * (design.pixels + 1)
            for r in range(t, t + design.pixels + 1):
                tile[place[r + 1]] = parted(sums[r + 2], design.pof, SUM_BITS)
            found.append(tile)
    return found
