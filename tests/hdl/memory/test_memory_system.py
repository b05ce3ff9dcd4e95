"""An engine with its memory subsystem, on a memory with latency and gaps: bits, bus, the VHDL."""

from collections import Counter
from collections.abc import Mapping
from random import Random

import numpy as np
import pytest

from block_bench import BlockBench, Recorded, Replays, Sample
from merp.cosim.board.lists import Bytes
from merp.cosim.board.runs import placed_run
from merp.cosim.board.system import system_of
from merp.cosim.machines.loader import phase_of
from merp.hdl.memory.memory_system import memory_system
from merp.models.golden.golden_step import GoldenStep
from merp.models.golden.initial import parameters
from merp.models.memory.params.memory_port import MemoryPort
from merp.testbenches.memory.axi4_rules import Axi4Rules
from merp.testbenches.memory.axi_memory import AxiMemory, Conduct
from merp.testbenches.memory.lite_pins import LiteHost
from merp.tools.common.input_maps import random_maps
from merp.tools.common.shipped import open_network

PORT = MemoryPort(data_bits=64, burst_beats=16)
CONDUCT = Conduct(latency=20, rate=0.9, mixed=True)
RESET_CYCLES = 6


class OnMemory:
    """A pass of tiny3, one image, as a list of commands in a memory."""

    def __init__(self, phase: str, layer: str) -> None:
        network = open_network("tiny3")
        images, made = random_maps(network, 1), parameters(network, 0)
        step = GoldenStep(network, network.layers, images, made)
        hardware = phase_of(network, network.layer(layer), phase)
        self.found = hardware.golden_pass(network.layer(layer), 0, step)
        self.system = system_of({"engine": hardware.top()}, PORT)
        ports = self.found.expected.ports.values()
        outputs = {each.stream: each.closed_form for each in ports if each.golden is not None}
        self.free = 0
        self.placed = placed_run(
            self.system, self.system.engines[0], self.found.run, outputs, self.alloc, 50_000
        )
        size = self.alloc(0)  # of whole beats
        self.memory = AxiMemory(PORT, bytearray(Random(1).randbytes(size)), CONDUCT, 1)
        for address, data in self.placed.content.items():
            self.memory.data[address : address + data.size] = data.tobytes()
        self.rules, self.host = Axi4Rules(PORT), LiteHost()
        self.ended = 0
        for offset, word in self.placed.commands.ring:
            self.host.write(offset, word)

    def alloc(self, size: int) -> int:
        address = -(-self.free // 64) * 64
        self.free = address + size
        return address

    def drive(self, cycle: int, seen: Sample) -> Mapping[str, int]:
        if cycle < RESET_CYCLES:
            return {"rst": 1}
        pins = seen if cycle > RESET_CYCLES else {}
        if pins:
            self.rules.sample(pins)
            self.ended = self.ended or cycle * bool(pins["interrupt"])
        return {"rst": 0, **self.memory.step(pins), **self.host.step(pins)}

    def run(self, cycles: int) -> Recorded:
        trace = BlockBench(self.system.function, "", **self.system.args).run(self.drive, cycles)
        assert self.rules.faults == []
        return trace

    def load(self, address: int, size: int) -> Bytes:
        return np.frombuffer(bytes(self.memory.data[address : address + size]), np.uint8)


PASSES = [("fp", "conv1"), ("ku", "conv1")]


@pytest.mark.full
@pytest.mark.ghdl
@pytest.mark.parametrize("which", PASSES)
def test_a_pass_has_the_goldens_words_and_the_formulas_bursts(
    which: tuple[str, str], replays: Replays
) -> None:
    """In MyHDL, and GHDL repeats every cycle."""
    made = OnMemory(*which)
    trace = made.run(1400 if which[0] == "fp" else 2600)
    assert made.ended
    (status,) = made.placed.commands.status(made.load)
    assert (status["status_done"], status["status_framing_error"]) == (1, 0)
    words = made.placed.words(made.load)
    for port in made.found.expected.ports.values():
        if port.golden is not None:
            np.testing.assert_array_equal(words[port.stream], port.golden.reshape(-1))
    for direction, wanted in made.placed.commands.formula._asdict().items():
        sizes = [size for _, size, kind in made.memory.bursts if kind == direction]
        assert Counter(size // PORT.beat_bytes for size in sizes) == wanted.bursts
        assert made.rules.bytes[direction] == wanted.beats * PORT.beat_bytes
    assert made.system.function.__name__ == memory_system([]).__name__
    replays(trace)
