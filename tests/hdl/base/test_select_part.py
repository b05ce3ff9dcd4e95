"""Selection of a part of any size: every place, the last one's missing bits, and none behind."""

from random import Random

import pytest

from block_bench import BlockBench
from merp.hdl.base.select_part import select_part
from merp.hdl.base.signals import bits


@pytest.mark.parametrize(("size", "parts", "missing"), [(1, 1, 0), (5, 3, 0), (7, 4, 2), (3, 6, 1)])
def test_parts_come_a_cycle_later(size: int, parts: int, missing: int) -> None:
    whole = size * parts - missing
    places = 1 << parts.bit_length()
    bench = BlockBench(
        select_part, "clk", words=bits(whole), index=bits(parts.bit_length()), word=bits(size),
        size=size, parts=parts,
    )  # fmt: skip
    rng = Random(whole)
    words = [rng.getrandbits(whole) for _ in range(4 * places)]
    trace = bench.run(lambda cycle, _: {"words": words[cycle], "index": cycle % places}, len(words))
    wanted = [words[t] >> t % places * size & (1 << size) - 1 for t in range(len(words))]
    assert trace.column("word")[1:] == wanted[:-1]
