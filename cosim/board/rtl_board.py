"""A board with a simple memory: GHDL or Verilator runs the accelerator, cocotb its surroundings.

Each ring is a simulation of its own. Accelerator and host begin with a reset, and memory keeps its
bytes. The memory has latency, gaps and answers in any order, but not the timing of a real one.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from merp.cosim.board.buffers import Buffer, Buffers
from merp.cosim.board.bus import Bus, Direction, Pass
from merp.cosim.board.system import System
from merp.cosim.engines.cocotb_run import CocotbTests, simulator
from merp.cosim.engines.simulators import NO_REWRITING
from merp.hdl.conversion.convert import convert
from merp.models.base.errors import CheckFailed
from merp.models.memory.bus_record import MemoryFacts, Waits
from merp.testbenches.memory.axi_memory import Conduct
from merp.testbenches.memory.board_bench import RESET_CYCLES
from merp.testbenches.memory.board_cocotb import FOLDER, JOB, MEMORY, RESULT

BENCH = "merp.testbenches.memory.board_cocotb"
CONDUCT = Conduct(latency=20, rate=0.9, mixed=True)


class RtlBoard:
    """A board of an accelerator on a simple memory.

    Attributes:
        memories: none, because this memory is no real one.
    """

    memories: tuple[MemoryFacts, ...] = ()

    def __init__(
        self,
        system: System,
        size: int,
        workdir: Path,
        engine: str = "ghdl",
        conduct: Conduct = CONDUCT,
    ) -> None:
        """Export the accelerator.

        Args:
            system: the accelerator.
            size: bytes of the memory.
            workdir: folder for exported files, logs and files of the simulator.
            engine: ``ghdl`` simulates the VHDL, ``verilator`` the Verilog.
            conduct: how the memory behaves.

        Raises:
            BadInput: the engine does not exist, or the simulator or cocotb is not installed.
        """
        self._run, language = simulator(engine)
        self._system, self._workdir, self._conduct = system, workdir, conduct
        workdir.mkdir(parents=True, exist_ok=True)
        self._export = convert(system.function, system.args, language, workdir)
        self._buffers = Buffers(size)
        self._data = np.zeros(size, np.uint8)
        self._writes: list[tuple[int, int]] = []
        self._found: Mapping[int, int] = {}
        self._result: dict[str, Any] = {}
        self._rings = 0

    @property
    def monitor(self) -> RtlBoard:
        """This object."""
        return self

    @property
    def end(self) -> int:
        """Address behind the memory, which begins at 0."""
        return self._buffers.end

    def read32(self, offset: int) -> int:
        """Return a register as it was after the interrupt."""
        return self._found[offset]

    def write32(self, offset: int, value: int) -> None:
        """Write a register at the begin of the next ``wait``."""
        self._writes.append((offset, value))

    def alloc(self, size: int, align: int = 64) -> Buffer:
        """Return a new buffer, as ``Buffers.alloc``."""
        return self._buffers.alloc(size, align)

    def free_all(self) -> None:
        """Free all buffers."""
        self._buffers.free_all()

    def to_device(self, buffer: Buffer, array: np.ndarray[Any, Any]) -> None:
        """Copy an array to the start of a buffer, in C order."""
        data = self._buffers.data("to_device", buffer, array)
        self._data[buffer.address : buffer.address + data.size] = data

    def from_device(
        self, buffer: Buffer, dtype: np.typing.DTypeLike, shape: int | tuple[int, ...]
    ) -> np.ndarray[Any, Any]:
        """Return the start of a buffer as a new array."""
        array = np.empty(shape, dtype)
        self._buffers.check("from_device", buffer, array.nbytes)
        data = self._data[buffer.address : buffer.address + array.nbytes]
        return data.copy().view(dtype).reshape(shape)

    def wait(self, timeout_cycles: int) -> None:
        """Simulate from a reset to the interrupt.

        Raises:
            TimeoutError: there is no interrupt.
            CheckFailed: a rule of AXI4 was broken.
        """
        port, reads = self._system.design.port, self._system.host.registers
        inputs = [name for name in self._export.inputs if name != "clk"]
        job = {
            "port": asdict(port), "conduct": asdict(self._conduct), "seed": self._rings,
            "writes": self._writes, "reads": [each.offset for each in reads],
            "inputs": inputs, "outputs": list(self._export.outputs), "limit": timeout_cycles,
            "settled": RESET_CYCLES,
        }  # fmt: skip
        self._writes, self._rings = [], self._rings + 1
        (self._workdir / JOB).write_text(json.dumps(job), encoding="ascii")
        (self._workdir / MEMORY).write_bytes(self._data.tobytes())
        folder = {FOLDER: str(self._workdir.resolve()), **NO_REWRITING}
        self._run(self._export, self._workdir, CocotbTests(BENCH, folder))
        result = json.loads((self._workdir / RESULT).read_text(encoding="ascii"))
        self._data = np.fromfile(self._workdir / MEMORY, np.uint8)
        self._result, self._found = result, dict(result["found"])
        if result["faults"]:
            raise CheckFailed(f"AXI4: {result['faults'][0]}")
        if not result["done"]:
            raise TimeoutError(f"wait: no interrupt for {timeout_cycles} cycles")

    def reset(self) -> None:
        """Do nothing, because each ring begins with a reset."""

    @property
    def bus(self) -> Bus:
        """Traffic of the latest ring; this memory counts no cycles."""
        beat, moved = self._system.design.port.beat_bytes, self._result["bytes"]
        bytes_ = {"read": moved["read"], "write": self._result["strobed"]}
        way = {
            name: Direction(
                beats=moved[name] // beat, bytes=bytes_[name],
                bursts=dict(self._result["bursts"][name]), waiting=0, busy=0, latency=Waits(),
            )
            for name in ("read", "write")
        }  # fmt: skip
        return Bus(0, 0, way["read"], way["write"], 0, 0)

    def clear_bus(self) -> None:
        """Do nothing, because each ring counts from zero."""

    @property
    def passes(self) -> Sequence[Pass]:
        """The passes of engines in the latest ring."""
        found = []
        for each in self._result["passes"]:
            seen = Pass(engine=each["engine"], began=each["began"], ended=each["ended"])
            for stream, (words, first, last) in each["moves"].items():
                moves = seen.streams[int(stream)]
                moves.words, moves.first, moves.last = words, first, last
            for way, counts in each["crossed"].items():
                crossed = getattr(seen, way)
                for number, (beats, size) in counts.items():
                    crossed.beats[int(number)], crossed.bytes[int(number)] = beats, size
            found.append(seen)
        return found
