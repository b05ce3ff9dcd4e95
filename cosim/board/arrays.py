"""Arrays in the memory of a board, and the words of streams in them."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from merp.cosim.board.buffers import Buffer
from merp.cosim.board.driver import Board
from merp.models.base.bits import Bits
from merp.models.memory.layout import ALIGN, Array, Layout
from merp.models.memory.nest import visited
from merp.models.memory.walk import Walk


class BoardArrays:
    """Arrays in the memory of a board.

    Attributes:
        board: the board; after the load of a bitstream, another one with the same memory.
        layout: their addresses.
    """

    def __init__(self, board: Board, arrays: Iterable[Array]) -> None:
        """Reserve memory for the arrays. Their contents are undefined.

        Raises:
            BadInput: the memory is too small.
        """
        named = {each.name: each for each in arrays}
        places = {name: board.alloc(each.size, ALIGN).address for name, each in named.items()}
        self.board = board
        self.layout = Layout(named, places, min(places.values()), board.end)

    def put(self, name: str, elements: Bits) -> None:
        """Write all elements of an array, as a host does.

        Raises:
            ValueError: they are too many or too few.
        """
        array = self.layout.arrays[name]
        if elements.size != array.elements:
            raise ValueError(f"{name} has {array.elements} elements, not {elements.size}")
        self.board.to_device(self._buffer(name), elements.astype(_kind(array)).reshape(-1))

    def get(self, name: str) -> Bits:
        """Return the elements of an array, with its size."""
        array = self.layout.arrays[name]
        found = self.board.from_device(self._buffer(name), _kind(array), array.shape)
        return found if array.element_bytes > 4 else found.astype(np.uint32)

    def part(self, name: str, walk: Walk) -> Bits:
        """Return a part of an array; ``walk`` counts elements from its begin."""
        return self.get(name).reshape(-1)[visited(walk)]

    def _buffer(self, name: str) -> Buffer:
        return Buffer(self.layout.addresses[name], self.layout.arrays[name].size)


def _kind(array: Array) -> np.dtype[np.unsignedinteger]:
    return np.dtype(f"<u{array.element_bytes}")
