"""Sums of values and units against sums of integers, each term in its declared cycle."""

from random import Random

import pytest

from block_bench import BlockBench
from merp.hdl.base.signals import bits
from merp.hdl.fused.fused_sum import fused_sum
from merp.models.base.fused import lateness, levels, sum_latency
from merp.testbenches.cnn_merp.cu_bench import joined


def worth(word: int, width: int) -> int:
    """A word's value in two's complement and the unit below it."""
    signed = word - (word >> width - 1 << width)
    return (signed >> 1) + (signed & 1)


@pytest.mark.parametrize("width", [6, 28])
@pytest.mark.parametrize("count", [1, 4, 9, 16, 25])
def test_a_sum_is_exact(count: int, width: int) -> None:
    """Of the smallest and the largest terms, and of any."""
    rng = Random(count)
    ends = (0, 1, (1 << width) - 1, 1 << width - 1, (1 << width - 1) - 1)
    rows = [[end] * count for end in ends]
    rows += [[rng.choice(ends) for _ in range(count)] for _ in range(20)]
    rows += [[rng.getrandbits(width) for _ in range(count)] for _ in range(30)]
    latency = sum_latency(count)
    size = width + levels(count)
    bench = BlockBench(fused_sum, "clk", terms=bits(count * width), total=bits(size), count=count)

    def drive(cycle: int, _: dict[str, int]) -> dict[str, int]:
        late = [rows[max(0, cycle - lateness(i, count)) % len(rows)][i] for i in range(count)]
        return {"terms": joined(late, width)}

    trace = bench.run(drive, len(rows) + latency)
    found = [worth(total, size) for total in trace.column("total")[latency:]]
    assert found == [sum(worth(term, width) for term in row) for row in rows]
