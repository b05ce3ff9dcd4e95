"""States, operations and failures of a command processor, and the signals that its parts share."""

from __future__ import annotations

from merp.hdl.axi.lite_manager import INDEX_BITS
from merp.hdl.base.signals import bits, flag
from merp.models.memory.params.commands import WORD, Failure, Operation

(IDLE, COMMAND, WORDS, ACCESS, SEND, WAITING) = range(6)
(STOP, ABORT, SETTLE, CLEAR, REFETCH) = range(8, 13)
"""States. The reader of the list is stopped in those from 8 on, which bit ``STOPPED`` tells."""

STOPPED = 3

(END, WRITE, WALK, START, WAIT, RECORD, EXPECT, JUMP, INTERRUPT, LOAD) = (
    int(each) for each in Operation
)
(NONE, ILLEGAL, REFUSED, UNEXPECTED, MEMORY, TIME, ABORTED, SHORT) = (int(each) for each in Failure)

FAILURE_BITS = 4


class PlayState:
    """The state of the list that is played."""

    def __init__(self) -> None:
        self.state = bits(4)
        self.left = bits(WORD)  # words of the list that were not taken
        self.takes = flag()  # a word is taken if there is one
        self.begins = flag()  # the first word of a command is taken
        self.continues = flag()  # another word of the command is taken
        self.sends = flag()  # the word of a recorded register is sent
        self.reason = bits(FAILURE_BITS)  # a failure that may come at any time, or NONE
        self.failing = flag()  # the list ends in this cycle, before its end
        self.aborted = flag()  # the host has ended the list
        self.failed = bits(FAILURE_BITS)  # the failure that ended the list, or NONE


class DecodedCommand:
    """A word, read as the first one of a command."""

    def __init__(self) -> None:
        self.operation = bits(8)
        self.words = bits(8)  # words, or registers, of the command
        self.first = bits(INDEX_BITS)  # its place
        self.legal = flag()
        self.beyond = flag()  # the word, read as a mask of streams, has one that does not exist


class PlayedCommand:
    """The command that is played."""

    def __init__(self) -> None:
        self.op = bits(8)
        self.more = bits(8)  # words, or registers, that are left
        self.ending = flag()  # one is left
        self.place = bits(INDEX_BITS)
        self.number = bits(8)  # words that were taken
        self.low = bits(WORD)  # the first word of a jump; the word that is expected
        self.high = bits(WORD)  # the second word of a jump
        self.mask = bits(WORD)  # streams of a wait
        self.limit = bits(WORD)  # cycles until a wait fails
        self.over = flag()  # the streams and engines of the wait have ended


class ListEnd:
    """Progress of the end of a list."""

    def __init__(self) -> None:
        self.quiet = flag()  # memory owes nothing, and nothing more was requested since
        self.aborts = flag()  # the abort of the first engine begins
        self.last_engine = flag()  # no engine is left behind the one that is being aborted
        self.settled = flag()  # no engine moves a word
