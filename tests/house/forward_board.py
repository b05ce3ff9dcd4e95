"""A pass of forward propagation of tiny3 on a simulated board, which tests build once."""

from typing import Any, NamedTuple

import numpy as np
import pytest

from merp.cosim.board.build import Built, built
from merp.cosim.board.driver import Board
from merp.cosim.board.play import loaded
from merp.cosim.board.runs import PlacedRun, placed_run
from merp.cosim.board.simulated import Buffer
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
from needed_tools import needs


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


LIMIT = 100_000
"""Cycles that a list on this board may take."""


def on_board(test: Any) -> Any:
    """Mark a test that runs on a simulated board."""
    return needs("litedram")(pytest.mark.verilator(test))


def golden(forward: OnBoard) -> np.ndarray[Any, Any]:
    """The golden words of the maps."""
    words = forward.found.expected.ports["map_out"].golden
    assert words is not None
    return words.reshape(-1)


def placed(board: Board, forward: OnBoard) -> PlacedRun:
    """The pass in the memory of a board."""

    def alloc(size: int) -> int:
        return board.alloc(size).address

    system = forward.system
    found = placed_run(system, system.engines[0], forward.found.run, forward.outputs, alloc, LIMIT)
    for address, data in found.content.items():
        board.to_device(Buffer(address, data.size), data)
    return found


def result(board: Board, run: PlacedRun) -> np.ndarray[Any, Any]:
    """The words of the maps in the memory of a board."""
    return run.words(lambda address, size: loaded(board, address, size))["m_axis_map"]


def small_system() -> System:
    """The accelerator of forward propagation, without a board."""
    top, _ = a_pass("fp")
    return system_of({"engine": top}, MemoryPort(data_bits=64))
