"""Bundles between the blocks of a mover: walks, runs, bursts, requests and beats."""

from __future__ import annotations

from merp.hdl.base.signals import bits, count, flag
from merp.models.memory.params.memory_port import MemoryPort
from merp.models.memory.params.mover import Mover


class DimensionConfig:
    """A dimension of a walk."""

    def __init__(self, mover: Mover) -> None:
        self.more = bits(mover.count_bits)  # number of steps less one
        # words from the last run of the dimensions inside to the first one of the next step, in
        # two's complement
        self.jump = bits(mover.address_bits)


class WalkConfig:
    """A walk; stable from start until the walk ends."""

    def __init__(self, mover: Mover) -> None:
        self.base = bits(mover.address_bits)  # address of the first word, in words
        self.length = bits(mover.address_bits)  # words of a run less one
        self.inner = DimensionConfig(mover)  # the fastest dimension
        self.second = DimensionConfig(mover)
        self.third = DimensionConfig(mover)
        self.outer = DimensionConfig(mover)  # the slowest dimension


class Runs:
    """A stream of runs of consecutive words."""

    def __init__(self, mover: Mover) -> None:
        self.address = bits(mover.address_bits)  # address of the first word, in words
        self.length = bits(mover.address_bits)  # number of words less one
        self.last = flag()  # the last run of the walk
        self.valid = flag()
        self.ready = flag()


class Bursts:
    """A stream of bursts."""

    def __init__(self, mover: Mover) -> None:
        self.address = bits(mover.port.beat_address_bits)  # address of the first beat, in beats
        self.length = count(mover.port.burst_beats - 1)  # number of beats less one, as AxLEN
        self.first = count(mover.lanes - 1)  # lane of the first word, in the first beat
        self.final = count(mover.lanes - 1)  # lane of the last word, in the last beat
        self.last = flag()  # the last burst of the walk
        self.valid = flag()
        self.ready = flag()


class Requests:
    """A stream of requests for bursts on the port."""

    def __init__(self, port: MemoryPort) -> None:
        self.address = bits(port.beat_address_bits)  # address of the first beat, in beats
        self.length = count(port.burst_beats - 1)  # number of beats less one, as AxLEN
        self.valid = flag()
        self.ready = flag()


class NumberedRequests(Requests):
    """Requests of several streams."""

    def __init__(self, port: MemoryPort) -> None:
        super().__init__(port)
        self.stream = bits(port.id_bits)  # number of the stream, AxID


def numbered(requests: Requests, stream: int, port: MemoryPort) -> NumberedRequests:
    """Return the signals of a stream's requests, and its number beside them."""
    found = NumberedRequests.__new__(NumberedRequests)
    vars(found).update(vars(requests), stream=bits(port.id_bits, stream))
    return found


class ReadBeats:
    """Beats that memory returns; a place is reserved for each of them, so there is no ready."""

    def __init__(self, port: MemoryPort) -> None:
        self.data = bits(port.data_bits)
        self.resp = bits(2)  # RRESP
        self.last = flag()  # the last beat of its burst
        self.valid = flag()


class ErrorResponse:
    """The first error response of a mover."""

    def __init__(self, port: MemoryPort) -> None:
        self.found = flag()  # there was one; nothing behind it has moved
        self.resp = bits(2)  # SLVERR or DECERR
        self.address = bits(port.beat_address_bits)  # address of the burst, in beats


class WriteBeats:
    """A stream of beats to write.

    Within a writer, a bit of strobe is a lane; at the port it is a byte.
    """

    def __init__(self, port: MemoryPort, lanes: int | None = None) -> None:
        self.data = bits(port.data_bits)
        self.strobe = bits(lanes or port.beat_bytes)  # what is written, the lowest first
        self.last = flag()  # the last beat of its burst
        self.valid = flag()
        self.ready = flag()


class WriteResponses:
    """Responses to bursts that were written."""

    def __init__(self) -> None:
        self.resp = bits(2)  # BRESP
        self.valid = flag()
