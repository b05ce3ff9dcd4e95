"""A table of constants: every place, and zero behind its end."""

import pytest

from block_bench import BlockBench, Recorded, Replays
from merp.hdl.base.look_up import look_up
from merp.hdl.base.signals import bits

TABLE = (5, 0, 7, 1, 2)


def check() -> Recorded:
    bench = BlockBench(look_up, "clk", index=bits(3), found=bits(3), table=TABLE)
    trace = bench.run(lambda cycle, _: {"index": 7 - cycle % 8}, 20)
    numbers = [*TABLE, 0, 0, 0]
    wanted = [numbers[index] for index in trace.column("index")]
    assert trace.column("found")[1:] == wanted[:-1]
    return trace


def test_every_number_comes_a_cycle_later() -> None:
    check()


@pytest.mark.ghdl
def test_vhdl_replays(replays: Replays) -> None:
    assert replays(check()) == 20
