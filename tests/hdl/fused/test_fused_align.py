"""Products moved down by every distance, wide and narrow, against shifts of integers."""

from random import Random

import pytest

from block_bench import BlockBench
from merp.hdl.base.signals import bits
from merp.hdl.fused.fused_align import fused_align
from merp.hdl.fused.narrow_align import narrow_align

BEYOND = 32


def cases(width: int) -> list[tuple[int, int]]:
    """Products of so many bits, and distances: each with ends of the range and random ones."""
    rng = Random(width)
    ends = (0, 1, (1 << width) - 1, 1 << width - 1, (1 << width - 1) - 1)
    return [
        (product, distance)
        for distance in [*range(BEYOND + 2), BEYOND + 16, 63]
        for product in (*ends, *(rng.getrandbits(width) for _ in range(4)))
    ]


@pytest.mark.parametrize(("width", "later"), [(32, 0), (28, 1), (29, 2), (32, 3)])
def test_a_product_is_moved(width: int, later: int) -> None:
    """Arithmetically; the last place is the bit that was lost last."""
    given = cases(width)
    bench = BlockBench(
        fused_align, "clk", product=bits(width), distance=bits(6), term=bits(width), later=later
    )
    trace = bench.run(
        lambda cycle, _: dict(zip(("product", "distance"), given[cycle], strict=True)), len(given)
    )
    wanted = [
        (product - (product >> width - 1 << width) >> distance) % (1 << width)
        if distance < BEYOND
        else 0
        for product, distance in given
    ]
    late = 1 + later
    assert trace.column("term")[late:] == wanted[:-late]


@pytest.mark.parametrize(
    ("width", "size", "later"), [(16, 16, 0), (20, 16, 1), (32, 22, 2), (18, 22, 3), (24, 22, 0)]
)
def test_a_magnitude_is_moved_and_negated(width: int, size: int, later: int) -> None:
    """Its highest bit is the window's, of ``width`` bits; negated is every bit."""
    given = cases(size)
    bench = BlockBench(
        narrow_align, "clk minus", product=bits(size), distance=bits(6), term=bits(width + 1),
        later=later,
    )  # fmt: skip
    trace = bench.run(
        lambda cycle, _: {
            "product": given[cycle][0],
            "distance": given[cycle][1],
            "minus": cycle % 2,
        },
        len(given),
    )
    wanted = []
    for cycle, (product, distance) in enumerate(given):
        moved = 0
        if distance < BEYOND:
            # First to the window: what lies below it is cut, not rounded.
            moved = (product << width >> size) >> distance
        wanted.append((~moved if cycle % 2 else moved) % (1 << width + 1))
    late = 1 + later
    assert trace.column("term")[late:] == wanted[:-late]
