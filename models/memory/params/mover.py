"""Parameters of the blocks that move one stream from memory or to it."""

from __future__ import annotations

from dataclasses import dataclass

from merp.models.base.whole_numbers import check_ranges
from merp.models.memory.params.memory_port import BYTE, MemoryPort

DIMENSIONS = 4
"""Dimensions of a walk outside its runs."""

MOST_PLACES = 4096
MOST_BURSTS = 64


@dataclass(frozen=True, kw_only=True)
class Mover:
    """A reader or a writer of one stream, fixed at elaboration.

    A word of the stream has its own place in memory. Addresses and strides of a walk count words,
    so no word crosses the border of a beat.

    Attributes:
        port: the port to memory.
        word_bits: bits of a word: a power of two from 8 to the bits of a beat.
        count_bits: bits of a dimension's count.
        places: beats of the FIFO, at least those of a burst.
        bursts: requests that wait for their response at the same time.

    Raises:
        ValueError: a field is out of range; the message names it and the allowed values.
    """

    port: MemoryPort
    word_bits: int
    count_bits: int = 16
    places: int = 128
    bursts: int = 8

    def __post_init__(self) -> None:
        """Check the fields."""
        check_ranges(self, {"word_bits": (BYTE, self.port.data_bits)})
        if self.word_bits & self.word_bits - 1:
            raise ValueError(f"word_bits must be a power of two, not {self.word_bits}")
        check_ranges(
            self,
            {
                "count_bits": (1, 32),
                "places": (self.port.burst_beats, MOST_PLACES),
                "bursts": (1, MOST_BURSTS),
            },
        )

    @property
    def word_bytes(self) -> int:
        """Bytes of a word."""
        return self.word_bits // BYTE

    @property
    def lanes(self) -> int:
        """Words of a beat."""
        return self.port.data_bits // self.word_bits

    @property
    def address_bits(self) -> int:
        """Bits of a word's address, which counts words."""
        return self.port.address_bits - (self.word_bytes - 1).bit_length()
