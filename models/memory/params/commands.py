"""Commands of the command processor: their words, and the errors that end a list.

A command is a word of 32 bits, and its words follow. Bits 31 to 24 hold the operation, bits 23 to
16 the number of words, bits 15 to 0 a place. A register is named by its index: its byte offset
divided by 4, plus ``ENGINE`` times the number of the engine.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

from merp.models.base.elaboration import elaboration
from merp.models.base.whole_numbers import check_ranges
from merp.models.memory.params.mover import DIMENSIONS

WORD = 32
MOST_STREAMS = 32
MOST_ENGINES = 16
ENGINE = 1 << 10
"""Registers of an engine: 4 KiB."""

MOST_WORDS = 255
"""Registers that one command writes or records."""

WALK_WORDS = 4 + 3 * DIMENSIONS
"""Base and length of 64 bits; of each dimension its steps less one, and its jump of 64 bits. The
upper byte of the length is the tail: the bytes of the last word that count, or 0 for all of them.
"""

TAIL_LOW = 24
TAIL_BITS = 8
TAIL_WORD = 3
"""Place of the tail: from this bit of this word on."""


class Operation(IntEnum):
    """Operations of commands. Zero is none, so that empty memory is no list."""

    END = 1  # end the list
    WRITE = 2  # write words to registers; the place is the first register
    WALK = 3  # set the walk of a stream; the place is the number of the stream
    START = 4  # start the walks of streams; the word is a mask of streams
    WAIT = 5  # wait for interrupts of engines (the place is their mask) and for streams
    RECORD = 6  # read registers, and send their words to the stream of records
    EXPECT = 7  # read a register, and compare it with a word
    JUMP = 8  # go on with another list: address of 64 bits, number of words
    INTERRUPT = 9  # interrupt the host
    LOAD = 10  # end the list, and load the bitstream at a flash address


class Failure(IntEnum):
    """Reasons why a list ended before its end."""

    NONE = 0
    ILLEGAL = 1  # no such operation, or another number of words
    REFUSED = 2  # a register does not exist, or must not be written
    UNEXPECTED = 3  # a register has another value than expected
    MEMORY = 4  # memory answered with an error
    TIME = 5  # a wait, or a recorded register, took more cycles than its limit
    ABORTED = 6  # the host ended the list
    SHORT = 7  # the list has fewer words than its last command


OPTIONS = ("loads",)
"""Fields that the text of a design omits if they have their defaults."""


@dataclass(frozen=True, kw_only=True, repr=False)
class ProcessorDesign:
    """A command processor, fixed at elaboration.

    Attributes:
        streams: number of streams that commands start, 1 to 32.
        engines: number of engines with registers, 1 to 16.
        address_bits: bits of a byte address in memory, 32 to 40.
        record_cycles: cycles that a recorded register may wait for its place in memory.
        loads: whether lists may load bitstreams.

    Raises:
        ValueError: a field is out of range; the message names it and the allowed range.
    """

    streams: int
    engines: int
    address_bits: int = 32
    record_cycles: int = 1 << 16
    loads: bool = False

    def __repr__(self) -> str:
        """Return the text that identifies the elaboration."""
        return elaboration("ProcessorDesign", self, OPTIONS)

    def __post_init__(self) -> None:
        """Check the fields."""
        check_ranges(
            self,
            {
                "streams": (1, MOST_STREAMS),
                "engines": (1, MOST_ENGINES),
                "address_bits": (32, 40),
                "record_cycles": (1, (1 << WORD) - 1),
            },
        )
