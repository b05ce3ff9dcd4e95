"""Elements in a wider format: all of a small one, and zeros above."""

import numpy as np
import pytest

from block_bench import BlockBench, Recorded, Replays
from merp.hdl.arithmetic.widen import widen
from merp.hdl.base.signals import bits
from merp.models.arithmetic.words import to_values
from merp.models.base.formats import FloatFormat

NARROW = FloatFormat(3, 3)


def widened(wide: FloatFormat, above: int) -> Recorded:
    """Every word of the narrow format, one per cycle."""
    bench = BlockBench(widen, x=bits(NARROW.width), y=bits(wide.width + above), width=wide.width)
    return bench.run(lambda cycle, _: {"x": cycle}, 1 << NARROW.width)


@pytest.mark.parametrize("more", [0, 1, 4])
@pytest.mark.parametrize("above", [0, 3])
def test_each_element_is_the_same_number(more: int, above: int) -> None:
    wide = FloatFormat(NARROW.exp_bits, NARROW.frac_bits + more)
    trace = widened(wide, above)
    x, y = trace.column("x"), trace.column("y")
    assert sorted(x) == list(range(1 << NARROW.width))
    assert max(y) < 1 << wide.width
    np.testing.assert_array_equal(
        to_values(np.array(y, np.uint32), wide), to_values(np.array(x, np.uint32), NARROW)
    )
    signs = [word >> wide.width - 1 for word in y]  # of zeros, too
    assert signs == [word >> NARROW.width - 1 for word in x]


@pytest.mark.sample(2)
@pytest.mark.ghdl
@pytest.mark.verilator
@pytest.mark.parametrize(("more", "above"), [(0, 0), (4, 0), (1, 3), (0, 2)])
def test_vhdl_replays(more: int, above: int, replays: Replays) -> None:
    replays(widened(FloatFormat(NARROW.exp_bits, NARROW.frac_bits + more), above), lint=True)
