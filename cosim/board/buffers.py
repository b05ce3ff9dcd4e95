"""Parts of a board's memory, reserved one behind the other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from merp.models.base.errors import BadInput
from merp.models.memory.layout import FIRST_ADDRESS


@dataclass(frozen=True)
class Buffer:
    """A part of the board's memory.

    Attributes:
        address: address of its first byte on the bus.
        size: its bytes.
    """

    address: int
    size: int


class Buffers:
    """The free and the reserved part of a memory.

    Attributes:
        size: bytes of the memory.
        base: address of its first byte.
    """

    def __init__(self, size: int, base: int = 0) -> None:
        self.size, self.base = size, base
        self._free = max(base, FIRST_ADDRESS)

    @property
    def end(self) -> int:
        """Address behind the memory."""
        return self.base + self.size

    @property
    def free(self) -> int:
        """Address behind the last buffer."""
        return self._free

    def alloc(self, size: int, align: int = 64) -> Buffer:
        """Return a new buffer. Its contents are undefined.

        Args:
            size: bytes, at least 1.
            align: its address is a multiple of this power of two.

        Raises:
            BadInput: size or alignment is not allowed, or memory has no space left.
        """
        if size < 1 or align < 1 or align & align - 1:
            raise BadInput(
                f"alloc: size {size}, align {align}: allowed are sizes from 1 and powers of two"
            )
        address = -(-self._free // align) * align
        if address + size > self.end:
            free = max(0, self.end - address)
            raise BadInput(f"alloc: size {size}: memory has {free} of {self.size} bytes left")
        self._free = address + size
        return Buffer(address, size)

    def free_all(self) -> None:
        """Free all buffers. Memory keeps its contents."""
        self._free = max(self.base, FIRST_ADDRESS)

    def data(self, call: str, buffer: Buffer, array: np.ndarray[Any, Any]) -> NDArray[np.uint8]:
        """Return the bytes of an array in C order, after ``check``."""
        data = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
        self.check(call, buffer, data.size)
        return data

    def check(self, call: str, buffer: Buffer, size: int) -> None:
        """Check that an array fits a buffer, and the buffer the memory.

        Raises:
            BadInput: it does not.
        """
        if size > buffer.size:
            raise BadInput(f"{call}: {size} bytes: allowed are the buffer's {buffer.size}")
        if buffer.address < self.base or buffer.address + size > self.end:
            raise BadInput(f"{call}: address {buffer.address:#x}: the memory has {self.size} bytes")
