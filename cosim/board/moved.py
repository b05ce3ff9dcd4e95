"""The words that a stream of an engine moves, from the part of an array that it reads or writes."""

from __future__ import annotations

from merp.cosim.board.lists import Moved
from merp.cosim.board.system import BoardEngine
from merp.models.base.errors import BadInput
from merp.models.memory.layout import Array, Layout, Part
from merp.models.memory.params.memory_port import BYTE
from merp.testbenches.top.top import Pin


def moved(engine: BoardEngine, layout: Layout, stream: str, part: Part) -> Moved:
    """Return the walk of a stream of an engine through a part of an array.

    Raises:
        BadInput: a beat of the stream has elements that are not beside each other in the array.
    """
    pin = next(pin for pin in engine.ports.streams if pin.name == stream)
    word_bytes = engine.movers[stream][1].word_bytes
    try:
        _check(pin, layout.arrays[part.array], word_bytes)
        words = layout.walk(part.array, part.walk, word_bytes)
    except ValueError as error:
        raise BadInput(f"{engine.name}: {stream}: {error}") from error
    tail = part.walk.total % pin.lanes * pin.element // BYTE
    return Moved(words, part.walk.total, tail if pin in engine.ports.inputs else 0)


def _check(pin: Pin, array: Array, word_bytes: int) -> None:
    """Check that elements of the stream and of the array have the same size in memory.

    A beat of one element has the next power of two of bits there, as the array has for each one.
    """
    found = pin.element if pin.lanes > 1 else BYTE * word_bytes
    if found != BYTE * array.element_bytes:
        raise ValueError(
            f"elements of {pin.element} bits: allowed are elements of "
            f"{BYTE * array.element_bytes} bits, as in {array.name}"
        )
