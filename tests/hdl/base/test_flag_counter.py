"""Flags side by side are counted, those of a cycle that clears and of the one before it are not."""

from random import Random

import pytest

from block_bench import BlockBench
from merp.hdl.base.flag_counter import flag_counter
from merp.hdl.base.lane import flags_within
from merp.hdl.base.signals import bits, count


@pytest.mark.parametrize("lanes", [1, 4, 16])
def test_flags_are_counted(lanes: int) -> None:
    rng = Random(lanes)
    rows = [
        {"clear": int(t == 0 or rng.random() < 0.05), "flags": rng.getrandbits(lanes)}
        for t in range(200)
    ]
    bench = BlockBench(flag_counter, "clk clear", flags=bits(lanes), total=bits(16))
    trace = bench.run(rows)
    total, found = 0, 0
    for t, row in enumerate(rows):
        assert trace.column("total")[t] == total
        total, found = total + found, row["flags"].bit_count()
        if row["clear"]:
            total = found = 0


def test_flags_of_lanes_that_count() -> None:
    rng = Random(0)
    rows = [
        {"valid": rng.getrandbits(1), "counted": t % 5, "flags": rng.getrandbits(4)}
        for t in range(60)
    ]
    bench = BlockBench(flags_within, "valid", counted=count(4), flags=bits(4), kept=bits(4))
    trace = bench.run(rows, 60)
    assert trace.column("kept") == [
        row["flags"] & (1 << row["counted"]) - 1 if row["valid"] else 0 for row in rows
    ]
