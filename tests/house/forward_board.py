"""A pass of forward propagation of tiny3 on a simulated board, which tests build once."""

from typing import NamedTuple

from merp.cosim.board.build import Built, built
from merp.cosim.board.system import System, system_of
from merp.cosim.board.system_engine import memory_for
from merp.cosim.machines.loader import phase_of
from merp.cosim.phases.expectation import GroupPass
from merp.models.golden.golden_step import GoldenStep
from merp.models.golden.initial import parameters
from merp.models.memory.params.memory_port import MemoryPort
from merp.testbenches.top.top import Top
from merp.tools.common.input_maps import random_maps
from merp.tools.common.shipped import open_network


def a_pass(phase: str, layer: str = "conv1", images: int = 2) -> tuple[Top, GroupPass]:
    """A pass of tiny3 with golden operands."""
    network = open_network("tiny3")
    step = GoldenStep(network, network.layers, random_maps(network, images), parameters(network, 0))
    hardware = phase_of(network, network.layer(layer), phase)
    return hardware.top(), hardware.golden_pass(network.layer(layer), 0, step)


class OnBoard(NamedTuple):
    """A pass of forward propagation, its accelerator, and the words of its outputs."""

    system: System
    library: Built
    found: GroupPass
    outputs: dict[str, int]


def forward_board() -> OnBoard:
    """The pass of conv1, and its board."""
    top, found = a_pass("fp")
    memory = memory_for(top.ports.streams)
    system = system_of({top.name: top}, MemoryPort(data_bits=memory.port_bits))
    ports = found.expected.ports.values()
    outputs = {each.stream: each.closed_form for each in ports if each.golden is not None}
    return OnBoard(system, built(system.function, system.args, memory), found, outputs)
