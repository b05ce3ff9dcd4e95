"""Rotation by every number of places, of vectors of every length from one word on."""

from random import Random

import pytest

from block_bench import BlockBench, Recorded, Replays
from merp.hdl.base.rotator import rotator
from merp.hdl.base.signals import bits

WIDTH = 3


def check(places: int) -> Recorded:
    rng = Random(places)
    shifts = [*range(places), *(rng.randrange(places) for _ in range(places))]
    vectors = [rng.getrandbits(places * WIDTH) for _ in shifts]
    bench = BlockBench(
        rotator, x=bits(places * WIDTH), shift=bits(max(1, (places - 1).bit_length())),
        y=bits(places * WIDTH), places=places, width=WIDTH,
    )  # fmt: skip
    trace = bench.feed(x=vectors, shift=shifts)
    for vector, shift, y in zip(vectors, shifts, trace.column("y"), strict=True):
        words = [vector >> i * WIDTH & (1 << WIDTH) - 1 for i in range(places)]
        turned = words[shift:] + words[:shift]
        assert y == sum(word << i * WIDTH for i, word in enumerate(turned)), (places, shift)
    return trace


@pytest.mark.parametrize("places", range(1, 18))
def test_each_word_comes_from_so_many_places_above(places: int) -> None:
    check(places)


@pytest.mark.ghdl
@pytest.mark.parametrize("places", [5, 6])
def test_vhdl_replays(places: int, replays: Replays) -> None:
    replays(check(places))
