"""Words of streams as bytes of memory."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from merp.models.base.bits import Bits
from merp.models.memory.params.memory_port import BYTE
from merp.testbenches.top.top import Pin


def beats_for(elements: int, pin: Pin) -> int:
    """Return the number of beats of a stream of ``elements`` elements."""
    return -(-elements // pin.lanes)


def to_memory(elements: Bits, pin: Pin, word_bytes: int) -> NDArray[np.uint8]:
    """Return the bytes of a stream's beats; each beat takes ``word_bytes`` bytes.

    The elements of a beat have no gaps, the first is lowest. Missing bits are zero.
    """
    beats = beats_for(elements.size, pin)
    padded = np.zeros(beats * pin.lanes, np.uint64)
    padded[: elements.size] = elements
    places = np.arange(pin.element, dtype=np.uint64)
    bits = (padded[:, None] >> places & 1).astype(np.uint8).reshape(beats, pin.width)
    whole = np.zeros((beats, word_bytes * BYTE), np.uint8)
    whole[:, : pin.width] = bits
    return np.packbits(whole, axis=1, bitorder="little").reshape(-1)


def from_memory(data: NDArray[np.uint8], pin: Pin, elements: int) -> Bits:
    """Return the first ``elements`` elements of a stream's beats in memory."""
    beats = beats_for(elements, pin)
    word_bytes = data.size // max(beats, 1)
    bits = np.unpackbits(data.reshape(beats, word_bytes), axis=1, bitorder="little")[:, : pin.width]
    parts = bits.reshape(-1, pin.element)[:elements].astype(np.uint64)
    places = np.arange(pin.element, dtype=np.uint64)
    words = (parts << places).sum(axis=1, dtype=np.uint64)
    return words.astype(np.uint32) if pin.element <= 32 else words
