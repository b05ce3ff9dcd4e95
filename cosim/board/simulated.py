"""A simulated board behind the interface of a driver.

board = SimulatedBoard(built(top, args, Dram()))
source = board.alloc(images.nbytes)
board.to_device(source, images)
board.write32(SOURCE, source.address)
board.write32(START, 1)
board.wait(1_000_000)
"""

from __future__ import annotations

import ctypes
import weakref
from typing import Any

import numpy as np

from merp.cosim.board.buffers import Buffer, Buffers
from merp.cosim.board.build import Built
from merp.cosim.board.bus import RULES, Bus, BusCounters, Direction, Pass
from merp.models.base.errors import BadInput, CheckFailed
from merp.models.base.register_map import ADDRESS_WIDTH, WORD_BYTES

WORD_MOST = (1 << 32) - 1
REGISTER_CYCLES = 10_000
"""Cycles after which an access to a register counts as unanswered."""

_AT_ONCE = 100_000
"""Cycles of a wait between two looks at signals of the process, such as an interrupt from the
keyboard.
"""


class SimulatedBoard:
    """A board in this process, at one call at a time. Several boards can run in several threads.

    Attributes:
        memories: the memory for a record.
        builds: the libraries of its bitstreams so far, by the names of the bitstreams.
    """

    def __init__(self, board: Built) -> None:
        """Power up: accelerator and controller are reset, memory is undefined."""
        library = _loaded(str(board.library))
        self._library = library
        self._board = ctypes.c_void_p(library.board_new())
        self._counters = library.board_counters(self._board).contents
        self._buffers = Buffers(board.memory.size)
        self.memories = (board.facts,)
        self.builds: dict[str, Built] = {}
        self._outside = self._faults = 0  # those that a CheckFailed has reported
        weakref.finalize(self, library.board_delete, self._board)

    def read32(self, offset: int) -> int:
        """Return a register.

        Raises:
            BadInput: there is no such offset, or the accelerator answers with an error.
            TimeoutError: the accelerator does not answer.
        """
        value = ctypes.c_uint32()
        where = ctypes.byref(value)
        _check_offset("read32", offset)
        answer = self._library.board_read(self._board, offset, where, REGISTER_CYCLES)
        self._check_answer("read32", offset, answer)
        return value.value

    def write32(self, offset: int, value: int) -> None:
        """Write a register.

        Raises:
            BadInput: there is no such offset, the value is not a word of 32 bits, or the
                accelerator answers with an error.
            TimeoutError: the accelerator does not answer.
        """
        _check_offset("write32", offset)
        if not 0 <= value <= WORD_MOST:
            raise BadInput(f"write32: value {value}: allowed are 0 to {WORD_MOST}")
        answer = self._library.board_write(self._board, offset, value, REGISTER_CYCLES)
        self._check_answer("write32", offset, answer)

    def _check_answer(self, call: str, offset: int, answer: int) -> None:
        if answer < 0:
            raise TimeoutError(
                f"{call}: no response at offset {offset:#x} for {REGISTER_CYCLES} cycles "
                f"(cycle {self.cycles})"
            )
        if answer:
            raise BadInput(f"{call}: offset {offset:#x}: the accelerator answers with an error")

    def alloc(self, size: int, align: int = 64) -> Buffer:
        """Return a new buffer, as ``Buffers.alloc``."""
        return self._buffers.alloc(size, align)

    def free_all(self) -> None:
        """Free all buffers. Memory keeps its contents."""
        self._buffers.free_all()

    def to_device(self, buffer: Buffer, array: np.ndarray[Any, Any]) -> None:
        """Copy an array to the start of a buffer, in C order. It takes no cycles.

        Raises:
            BadInput: the array has more bytes than the buffer.
        """
        data = self._buffers.data("to_device", buffer, array)
        where = data.ctypes.data_as(ctypes.c_void_p)
        self._library.board_store(self._board, buffer.address, where, data.size)

    def from_device(
        self, buffer: Buffer, dtype: np.typing.DTypeLike, shape: int | tuple[int, ...]
    ) -> np.ndarray[Any, Any]:
        """Return the start of a buffer as a new array. It takes no cycles.

        Raises:
            BadInput: the array has more bytes than the buffer.
        """
        array = np.empty(shape, dtype)
        self._buffers.check("from_device", buffer, array.nbytes)
        where = array.ctypes.data_as(ctypes.c_void_p)
        self._library.board_load(self._board, buffer.address, where, array.nbytes)
        return array

    def wait(self, timeout_cycles: int) -> None:
        """Run until the interrupt is high; if it is high already, for no cycle.

        Raises:
            BadInput: the limit is negative.
            TimeoutError: it does not rise; the message has the state of the bus.
            CheckFailed: a burst left the memory, or a rule of AXI4 was broken.
        """
        if timeout_cycles < 0:
            raise BadInput(f"wait: timeout_cycles {timeout_cycles}: allowed are numbers from 0")
        left = timeout_cycles
        while not self._library.board_wait(self._board, min(left, _AT_ONCE)):
            self._check_bursts()
            left -= min(left, _AT_ONCE)
            if not left:
                bus = self.bus
                raise TimeoutError(
                    f"wait: no interrupt for {timeout_cycles} cycles (cycle {self.cycles}); "
                    f"read: {_told(bus.read)}; write: {_told(bus.write)}"
                )
        self._check_bursts()

    def _check_bursts(self) -> None:
        counters = self._counters
        if counters.outside > self._outside:
            self._outside = counters.outside
            raise CheckFailed(
                f"bursts outside memory: {counters.outside}, the first at "
                f"{counters.outside_address:#x}; the memory ends at {self.end:#x}"
            )
        if counters.faults > self._faults:
            self._faults = counters.faults
            raise CheckFailed(
                f"AXI4: {RULES[counters.rule - 1]} (cycle {counters.fault_cycle}); broken rules: "
                f"{counters.faults}"
            )

    def reset(self) -> None:
        """Reset accelerator and controller. Memory and buffers keep their contents."""
        self._library.board_reset(self._board)

    def take_over(self, other: SimulatedBoard) -> None:
        """Take over the memory and the buffers of a board with another bitstream."""
        self._buffers, self.builds = other._buffers, other.builds
        place = Buffer(0, self._buffers.free)
        self.to_device(place, other.from_device(place, np.uint8, (place.size,)))

    @property
    def monitor(self) -> SimulatedBoard:
        """This object."""
        return self

    @property
    def end(self) -> int:
        """Address behind the memory, which begins at 0."""
        return self._buffers.end

    @property
    def cycles(self) -> int:
        """Cycles since power-up."""
        return int(self._library.board_cycle(self._board))

    @property
    def bus(self) -> Bus:
        """Traffic between accelerator and memory since power-up or ``clear_bus``."""
        return self._counters.frozen()

    @property
    def passes(self) -> list[Pass]:
        """The passes of engines since power-up or ``clear_bus``, in the order of their starts.

        There are none if the accelerator does not have the pins ``moves``, ``begins`` and ``ends``.
        """
        number = self._library.board_passes(self._board)
        found = (self._library.board_pass(self._board, at).contents for at in range(number))
        return [Pass.from_buffer_copy(each) for each in found]

    def clear_bus(self) -> None:
        """Forget all passes, and set the counters of the bus to zero except unfinished bursts."""
        self._outside = self._faults = 0
        self._library.board_clear(self._board)


def _loaded(path: str) -> ctypes.CDLL:
    """Load the library of a board, and declare its functions."""
    library = ctypes.CDLL(path)
    number, pointer, word = ctypes.c_uint64, ctypes.c_void_p, ctypes.c_uint32
    functions: dict[str, tuple[Any, tuple[Any, ...]]] = {
        "new": (pointer, ()),
        "delete": (None, (pointer,)),
        "reset": (None, (pointer,)),
        "cycle": (number, (pointer,)),
        "counters": (ctypes.POINTER(BusCounters), (pointer,)),
        "clear": (None, (pointer,)),
        "passes": (number, (pointer,)),
        "pass": (ctypes.POINTER(Pass), (pointer, number)),
        "read": (ctypes.c_int, (pointer, word, ctypes.POINTER(word), number)),
        "write": (ctypes.c_int, (pointer, word, word, number)),
        "wait": (ctypes.c_int, (pointer, number)),
        "store": (None, (pointer, number, pointer, number)),
        "load": (None, (pointer, number, pointer, number)),
    }
    for name, (result, arguments) in functions.items():
        function = getattr(library, f"board_{name}")
        function.restype, function.argtypes = result, arguments
    return library


def _check_offset(call: str, offset: int) -> None:
    if not 0 <= offset < 1 << ADDRESS_WIDTH or offset % WORD_BYTES:
        raise BadInput(
            f"{call}: offset {offset}: allowed are multiples of {WORD_BYTES} below "
            f"{1 << ADDRESS_WIDTH}"
        )


def _told(direction: Direction) -> str:
    bursts = sum(direction.bursts.values())
    return f"{direction.beats} beats of {bursts} bursts, {direction.waiting} of them unfinished"
