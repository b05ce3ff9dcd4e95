"""Rotation in groups of every size, by every number of places."""

from random import Random

import pytest

from block_bench import BlockBench, Recorded, Replays
from merp.hdl.base.signals import bits, count
from merp.hdl.mac_array.map_buffer.region_rotator import region_rotator

WIDTH = 3


def check(places: int) -> Recorded:
    rng = Random(places)
    levels = places.bit_length() - 1
    cases = [(level, shift) for level in range(levels + 1) for shift in range(1 << level)]
    vectors = [rng.getrandbits(places * WIDTH) for _ in cases]
    bench = BlockBench(
        region_rotator, x=bits(places * WIDTH), shift=count(places - 1), level=count(levels),
        y=bits(places * WIDTH), places=places, width=WIDTH,
    )  # fmt: skip

    def drive(cycle: int, _: dict[str, int]) -> dict[str, int]:
        level, shift = cases[cycle]
        return {"x": vectors[cycle], "shift": shift, "level": level}

    trace = bench.run(drive, len(cases))
    for vector, (level, shift), y in zip(vectors, cases, trace.column("y"), strict=True):
        words = [vector >> i * WIDTH & (1 << WIDTH) - 1 for i in range(places)]
        side = 1 << level
        turned = [
            words[first + (j + shift) % side]
            for first in range(0, places, side)
            for j in range(side)
        ]
        assert y == sum(word << i * WIDTH for i, word in enumerate(turned)), (places, level, shift)
    return trace


@pytest.mark.parametrize("places", [4, 8, 16])
def test_each_group_turns_by_itself(places: int) -> None:
    check(places)


@pytest.mark.ghdl
@pytest.mark.parametrize("places", [4, 8])
def test_vhdl_replays(places: int, replays: Replays) -> None:
    replays(check(places))
