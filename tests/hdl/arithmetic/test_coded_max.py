"""The larger of two elements with its position, on every pair of special values."""

from itertools import product

import numpy as np

from block_bench import BlockBench, Sample
from merp.hdl.arithmetic.coded_max import coded_max
from merp.hdl.base.signals import bits

VALUES = [0x0000, 0x8000, 0x7FC0, 0x7F80, 0xFF80, 0x3F80, 0xBF80, 0x4040, 0xC040, 0x3E99]
HELD, CODE = 5, 10


def greater(b: int, a: int) -> bool:
    """Whether b wins; a NaN does over any number, and zeros of either sign are equal."""
    old, new = (np.uint32(word << 16).view(np.float32) for word in (a, b))
    return bool(new > old or (np.isnan(new) and not np.isnan(old)))


def test_the_first_of_equals_keeps_its_position() -> None:
    bench = BlockBench(coded_max, "fresh", a=bits(20), b=bits(16), code=bits(4), y=bits(20))
    cases = list(product((0, 1), VALUES, VALUES))

    def drive(cycle: int, _: Sample) -> dict[str, int]:
        fresh, a, b = cases[cycle]
        return {"fresh": fresh, "a": HELD << 16 | a, "b": b, "code": CODE}

    trace = bench.run(drive, len(cases))
    for (fresh, a, b), y in zip(cases, trace.column("y"), strict=True):
        wins = fresh or greater(b, a)
        assert y == (CODE << 16 | b if wins else HELD << 16 | a), (fresh, hex(a), hex(b))
