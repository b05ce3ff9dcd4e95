"""A real board behind the interface of a driver, by any way to its registers and its memory."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic
from typing import Any, Protocol

import numpy as np

from merp.cosim.board.buffers import Buffer, Buffers
from merp.cosim.board.lists import Bytes
from merp.cosim.board.self_test import POLLED, check_design, self_test
from merp.cosim.board.system import System
from merp.models.base.errors import BadInput
from merp.models.base.register_map import CONTROL, STATUS

SLOWEST_HZ = 10_000_000
"""Clock of an accelerator that is slower than any: limits in cycles become limits in time."""

SPARE_SECONDS = 1.0
ONCE_SECONDS = 0.05
"""Time of a single wait for the interrupt."""


class Access(Protocol):
    """A way to the registers and to the arena of a board.

    The arena is memory at consecutive addresses of the accelerator's bus.
    """

    @property
    def name(self) -> str:
        """The place of the arena, for messages."""

    @property
    def address(self) -> int:
        """Address of the arena on the bus of the accelerator."""

    @property
    def size(self) -> int:
        """Bytes of the arena."""

    def read32(self, offset: int) -> int:
        """Return a register."""

    def write32(self, offset: int, value: int) -> None:
        """Write a register."""

    def load(self, offset: int, size: int) -> Bytes:
        """Return bytes of the arena as the accelerator has written them."""

    def store(self, offset: int, data: Bytes) -> None:
        """Write bytes of the arena, and let the accelerator see them."""

    def interrupted(self, seconds: float) -> bool:
        """Wait for an interrupt, at most so long; return whether it came.

        Without an interrupt, sleep for a moment and return True.
        """


class HardwareBoard:
    """A real board. Nobody counts on its pins and its bus.

    Attributes:
        access: the way to it.
    """

    def __init__(self, access: Access, system: System) -> None:
        """Use the arena of ``access`` for buffers.

        Raises:
            BadInput: the accelerator cannot address the arena.
        """
        self.access, self._host = access, system.host
        self._buffers = Buffers(access.size, access.address)
        most = 1 << system.design.port.address_bits
        if self.end > most:
            raise BadInput(f"{access.name}: ends at {self.end:#x}: allowed is up to {most:#x}")

    @property
    def monitor(self) -> None:
        """No monitor."""
        return None

    @property
    def end(self) -> int:
        """Address behind the memory."""
        return self._buffers.end

    def read32(self, offset: int) -> int:
        """Return a register."""
        return self.access.read32(offset)

    def write32(self, offset: int, value: int) -> None:
        """Write a register."""
        self.access.write32(offset, value)

    def alloc(self, size: int, align: int = 64) -> Buffer:
        """Return a new buffer, as ``Buffers.alloc``."""
        try:
            return self._buffers.alloc(size, align)
        except BadInput as error:
            raise BadInput(f"{self.access.name}: {error}") from error

    def free_all(self) -> None:
        """Free all buffers. Memory keeps its contents."""
        self._buffers.free_all()

    def to_device(self, buffer: Buffer, array: np.ndarray[Any, Any]) -> None:
        """Copy an array to the start of a buffer, in C order, past the caches.

        Raises:
            BadInput: the array has more bytes than the buffer.
        """
        data = self._buffers.data("to_device", buffer, array)
        self.access.store(buffer.address - self.access.address, data)

    def from_device(
        self, buffer: Buffer, dtype: np.typing.DTypeLike, shape: int | tuple[int, ...]
    ) -> np.ndarray[Any, Any]:
        """Return the start of a buffer as a new array, past the caches.

        Raises:
            BadInput: the array has more bytes than the buffer.
        """
        array = np.empty(shape, dtype)
        self._buffers.check("from_device", buffer, array.nbytes)
        data = self.access.load(buffer.address - self.access.address, array.nbytes)
        return data.view(dtype).reshape(array.shape)

    def wait(self, timeout_cycles: int) -> None:
        """Wait for the interrupt, or until its register is set if the board has no interrupt.

        Raises:
            TimeoutError: it does not come, even if the clock had 10 MHz.
        """
        seconds = timeout_cycles / SLOWEST_HZ + SPARE_SECONDS
        begin, interrupt = monotonic(), self._host["interrupt"].offset
        while True:
            passed = monotonic() - begin
            came = self.access.interrupted(ONCE_SECONDS)
            if came and self.read32(interrupt):
                return
            if passed > seconds:
                raise TimeoutError(
                    f"wait: no interrupt for {seconds:.1f} seconds; status is {self._status:#x}"
                )

    def change(self, system: System) -> None:
        """Go on with another bitstream that was loaded. Memory and buffers keep their contents.

        Raises:
            CheckFailed: the board has another accelerator, or does not answer.
        """
        self._host = system.host
        check_design(self, system)
        self.reset()

    @property
    def _status(self) -> int:
        return self.read32(self._host["status"].offset)

    def reset(self) -> None:
        """End a list, and wait until memory owes nothing. Memory and buffers keep their contents.

        Raises:
            TimeoutError: the accelerator does not become idle.
        """
        self.write32(self._host["control"].offset, 1 << CONTROL.index("abort"))
        begin, active = monotonic(), 1 << STATUS.index("busy") | 1 << STATUS.index("aborting")
        while self._status & active:
            if monotonic() - begin > SPARE_SECONDS:
                raise TimeoutError(f"reset: the list does not end; status is {self._status:#x}")


def check_loads(step: object, load: Callable[[str], Any] | None) -> None:
    """Check that a device can load the bitstreams of a step.

    Raises:
        BadInput: there are bitstreams, and no function that loads them.
    """
    if step is not None and load is None:
        raise BadInput(f"step = {str(step)!r}: load is missing: allowed is a function of a name")


def opened(access: Access, system: System) -> HardwareBoard:
    """Return the board of an accelerator after its self-test, with all buffers free.

    Raises:
        BadInput: the accelerator cannot address the arena, or its interrupt is not connected.
        CheckFailed: the board has another accelerator, or does not answer.
    """
    board = HardwareBoard(access, system)
    check_design(board, system)
    board.reset()
    if self_test(board, system) == POLLED:
        raise BadInput(f"{access.name}: {POLLED}: allowed is interrupt = False")
    board.free_all()
    return board
