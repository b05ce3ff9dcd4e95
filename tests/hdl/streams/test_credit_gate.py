"""Free places: one or none, whatever comes and goes."""

from __future__ import annotations

from random import Random

import pytest

from merp.hdl.base.signals import flag
from merp.hdl.streams.credit_gate import credit_gate
from merp.testbenches.block.trace import Sample, run_block


@pytest.mark.parametrize("places", [1, 2, 5])
def test_there_is_a_place_or_there_is_none(places: int) -> None:
    args = {
        "clk": flag(), "rst": flag(), "taken": flag(), "freed": flag(), "some": flag(),
        "places": places,
    }  # fmt: skip
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

    trace = run_block(credit_gate, args, ("rst", "taken", "freed"), drive, 400)
    assert trace.column("some")[1:] == wanted[1:]
    assert set(wanted) == {0, 1}
