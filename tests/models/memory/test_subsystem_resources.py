"""The estimate of the resources of a memory subsystem."""

from itertools import pairwise

import pytest

from merp.cosim.board.dram import Dram
from merp.cosim.board.step_lists import step_system
from merp.models.fpga.resources import Resources
from merp.models.memory.subsystem_resources import subsystem_resources
from merp.tools.common.planned_step import machine_step
from merp.tools.common.shipped import open_network

MEASURED = {"lut": 8263, "ff": 9295, "bram": 16.5}
"""By Yosys, for digits on a port of 128 bits (docs/resources.md)."""


def of_digits(data_bits: int, *, momentum: bool = False) -> Resources:
    """Return the estimate for digits on a memory of this width."""
    network = open_network("digits")
    plan = machine_step(network)(network, 1, momentum=momentum)
    return subsystem_resources(step_system(plan, Dram(data_bits=data_bits))[0].design)


@pytest.mark.parametrize("kind", MEASURED)
def test_the_estimate_is_near_the_synthesis(kind: str) -> None:
    assert of_digits(16).figures()[kind] == pytest.approx(MEASURED[kind], rel=0.05)


def test_wider_ports_and_more_streams_need_more() -> None:
    for one, other in pairwise([of_digits(16), of_digits(32), of_digits(64)]):
        assert one.lut < other.lut
        assert one.ff < other.ff
        assert one.bram < other.bram
    plain, with_momentum = of_digits(16), of_digits(16, momentum=True)
    assert plain.lut < with_momentum.lut
    assert plain.bram < with_momentum.bram
