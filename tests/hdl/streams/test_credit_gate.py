"""Free places: one or none, whatever comes and goes."""

from random import Random

import pytest

from block_bench import BlockBench, Sample
from merp.hdl.streams.credit_gate import credit_gate


@pytest.mark.parametrize("places", [1, 2, 5])
def test_there_is_a_place_or_there_is_none(places: int) -> None:
    bench = BlockBench(credit_gate, "clk rst taken freed some", places=places)
    rng = Random(places)
    free = places
    wanted: list[int] = []

    def drive(cycle: int, _: Sample) -> dict[str, int]:
        nonlocal free
        wanted.append(int(free > 0))
        rst = int(rng.random() < 0.03)
        # In turns places are taken and given back for the most part.
        taken = int(free > 0 and rng.random() < (0.9, 0.3)[cycle // 20 % 2])
        freed = int(free < places and rng.random() < (0.3, 0.9)[cycle // 20 % 2])
        if cycle == 0:
            return {"rst": 1, "taken": 0, "freed": 0}
        free = places if rst else free + freed - taken
        return {"rst": rst, "taken": taken, "freed": freed}

    trace = bench.run(drive, 400)
    assert trace.column("some")[1:] == wanted[1:]
    assert set(wanted) == {0, 1}
