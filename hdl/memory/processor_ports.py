"""The ports of a command processor: the host's list, its reader, streams, walks, and its state."""

from __future__ import annotations

from merp.hdl.axi.lite_manager import RegisterAccess
from merp.hdl.base.interface import DesignPorts, Member
from merp.hdl.base.signals import Stream, bits, count, flag
from merp.hdl.conversion.entity import Word
from merp.models.memory.params.commands import WALK_WORDS, WORD, ProcessorDesign


class ListControl:
    """The list of the host."""

    def __init__(self, design: ProcessorDesign) -> None:
        self.start = flag()  # pulse: play the list; without effect while busy
        self.abort = flag()  # pulse: end the list
        self.base = bits(design.address_bits - 2)  # address of the first word, in words
        self.words = bits(WORD)  # number of words


class ListFetch:
    """The reader of the list."""

    def __init__(self, design: ProcessorDesign) -> None:
        self.start = flag()  # pulse: read the words from base on
        self.stop = flag()  # request nothing more
        self.clear = flag()  # pulse: drop the rest
        self.base = bits(design.address_bits - 2)  # address of the first word, in words
        self.length = bits(design.address_bits - 2)  # number of words less one
        self.idle = flag()  # memory owes nothing
        self.failed = flag()  # memory answered with an error


def _words(design: ProcessorDesign) -> Stream:
    return Stream(WORD)


class ListPorts(DesignPorts[ProcessorDesign]):
    """The list of the host, its reader, and its words."""

    MEMBERS = (
        Member("host", ListControl),
        Member("fetch", ListFetch),
        Member("commands", _words, kind=Stream),
    )


def _access(design: ProcessorDesign) -> RegisterAccess:
    return RegisterAccess()


def _interrupts(design: ProcessorDesign) -> Word:
    return bits(design.engines)


class EngineAccess(DesignPorts[ProcessorDesign]):
    """Accesses of the registers of all engines, and their interrupts."""

    MEMBERS = (
        Member("access", _access, kind=RegisterAccess),
        Member("interrupts", _interrupts, kind=Word),
    )


class StreamControl:
    """The walks of all streams; bit i is stream i."""

    def __init__(self, design: ProcessorDesign) -> None:
        self.start = bits(design.streams)  # pulses: begin the walk
        self.stop = flag()  # all streams: request nothing more, and take no word
        self.clear = flag()  # pulse, all streams: drop the rest
        self.done = bits(design.streams)  # the walk has ended, and memory owes nothing
        self.idle = flag()  # memory owes nothing to any stream
        self.failed = flag()  # memory answered a stream with an error


class WalkWrite:
    """A write of a word of a walk."""

    def __init__(self, design: ProcessorDesign) -> None:
        self.enable = flag()  # pulse
        self.stream = count(design.streams - 1)  # number of the stream
        self.index = count(WALK_WORDS - 1)  # number of the word
        self.data = bits(WORD)  # the word


class ProcessorStatus:
    """State of the processor."""

    def __init__(self, design: ProcessorDesign) -> None:
        self.busy = flag()  # a list is being played
        self.done = flag()  # the last list has ended
        self.interrupt = flag()  # pulse: a command interrupts the host, or a list ends
        self.failure = bits(4)  # why the list ended before its end, or 0
        self.commands = bits(WORD)  # commands that were begun; the last one is the failed one
        self.waiting = bits(design.streams)  # streams of the present or the last wait
        if design.loads:
            self.load = flag()  # the last list has ended with the load of a bitstream
            self.load_begins = flag()  # pulse: load it; memory owes nothing
            self.bitstream = bits(WORD)  # its flash address

    @property
    def loads(self) -> bool:
        """Whether lists may load bitstreams."""
        return "load" in vars(self)
