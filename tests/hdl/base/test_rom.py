"""A read-only memory: every word, a cycle later, and tables that do not fill it."""

import pytest

from block_bench import BlockBench, Recorded, Replays
from merp.hdl.base.rom import rom
from merp.hdl.base.signals import bits

WIDTH = 70
TABLE = tuple((1 << WIDTH - 1) + 3 * place for place in range(8))


def check() -> Recorded:
    bench = BlockBench(rom, "clk", address=bits(3), word=bits(WIDTH), table=TABLE)
    trace = bench.run(lambda cycle, _: {"address": 7 - cycle % 8}, 20)
    wanted = [TABLE[address] for address in trace.column("address")]
    assert trace.column("word")[1:] == wanted[:-1]
    return trace


def test_every_word_comes_a_cycle_later() -> None:
    check()


def test_a_table_that_does_not_fill_the_memory_is_refused() -> None:
    bench = BlockBench(rom, "clk", address=bits(3), word=bits(WIDTH), table=TABLE[:7])
    with pytest.raises(ValueError, match="table must have 8 words, not 7"):
        bench.run([{}])


@pytest.mark.ghdl
def test_vhdl_replays(replays: Replays) -> None:
    assert replays(check(), lint=True) == 20
