"""Flags of several engines as those of one: any of them is busy or wrong, and all are done."""

from itertools import product
from typing import Any

import pytest
from myhdl import block

from block_bench import BlockBench, Sample
from merp.hdl.base.gather import gather
from merp.hdl.base.signals import Bundles, flag
from merp.models.base.register_map import FLAGS


@pytest.mark.parametrize("parts", [1, 2, 3])
def test_busy_and_wrong_are_any_and_done_is_all(parts: int) -> None:
    """For every value of every flag."""

    @block
    def bench(clk: Any, several: Bundles, status: Bundles) -> Any:
        return gather(tuple(vars(several).values()), status=status)

    several = Bundles({f"part{i}": flags() for i in range(parts)})
    inputs = tuple(f"several_part{i}_{name}" for i in range(parts) for name in FLAGS)
    values = list(product((0, 1), repeat=len(inputs)))

    def drive(cycle: int, seen: Sample) -> dict[str, int]:
        return dict(zip(inputs, values[cycle], strict=True))

    trace = BlockBench(bench, "clk", several=several, status=flags()).run(drive, len(values))
    for name, together in (("busy", any), ("framing_error", any), ("done", all)):
        columns = [trace.column(f"several_part{i}_{name}") for i in range(parts)]
        wanted = [together(each) for each in zip(*columns, strict=True)]
        assert trace.column(f"status_{name}") == wanted, name


def flags() -> Bundles:
    return Bundles({name: flag() for name in FLAGS})
