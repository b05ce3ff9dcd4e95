"""Signals and streams.

A bundle is a class of signals; MyHDL flattens the argument ``sink`` to ``sink_data``,
``sink_valid``, ... Every field holds raw bits.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from myhdl import Signal, intbv

from merp.hdl.conversion.base.internals import AnySignal
from merp.hdl.conversion.ports import is_bundle, prefix_of


def bits(width: int, value: int = 0) -> Any:
    """Signal of ``width`` raw bits."""
    return Signal(intbv(value)[width:])


def signed(width: int) -> Any:
    """Signal of a number of ``width`` bits in two's complement."""
    return Signal(intbv(0, min=-(1 << width - 1), max=1 << width - 1))


def flag(value: int = 0) -> Any:
    """Signal of a single bit."""
    return Signal(bool(value))


def count(largest: int) -> Any:
    """Signal that holds 0 to ``largest``."""
    return bits(max(1, int(largest).bit_length()))


BYTE = 8


class Stream:
    """A stream of words: a transfer happens in a cycle with ``valid`` and ``ready`` both high.

    Once valid is high, neither it nor data nor last changes until the transfer; valid never waits
    for ready.
    """

    keep: Any = None  # where a beat has several elements, and a sink has to be told which count

    def __init__(self, width: int) -> None:
        self.data = bits(width)
        self.valid = flag()
        self.ready = flag()
        self.last = flag()


class AxiStream:
    """The same stream under AXI4-Stream names, for the accelerator's top level.

    Of several elements of ``width`` bits per beat, the first lies lowest. All beats but the last
    are full; ``tkeep``, a bit per byte, tells which elements of that one count.
    """

    tkeep: Any = None  # where a beat has several elements
    lanes: int = 1

    def __init__(self, width: int, lanes: int = 1) -> None:
        self.tdata = bits(lanes * width)
        self.tvalid = flag()
        self.tready = flag()
        self.tlast = flag()
        if lanes > 1:
            self.tkeep = bits(lanes * width // BYTE)
            self.lanes = lanes


def beats_of(axi: AxiStream) -> Stream:
    """``stream_of`` with ``keep``, for a source: which elements of its last beat count."""
    stream = stream_of(axi)
    if axi.tkeep is not None:
        stream.keep = axi.tkeep
    return stream


def beats(like: Stream) -> Stream:
    """A stream of such beats, with ``keep``."""
    stream = Stream(len(like.data))
    stream.keep = bits(len(like.keep))
    return stream


def stream_of(axi: AxiStream) -> Stream:
    """The AXI4-Stream bundle's own signals under the names of a ``Stream``."""
    stream = Stream.__new__(Stream)
    stream.data, stream.valid = axi.tdata, axi.tvalid
    stream.ready, stream.last = axi.tready, axi.tlast
    return stream


class Bundles:
    """Bundles under a common name: the port ``map`` of ``s_axis`` flattens to ``s_axis_map``."""

    def __init__(self, members: Mapping[str, Any]) -> None:
        vars(self).update(members)

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """The bundle or signal of that name."""


def signals_of(bundle: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Name and signal of every port that ``bundle`` flattens to, bundles inside included."""
    for name, value in vars(bundle).items():
        if isinstance(value, AnySignal):
            yield prefix + name, value
        elif is_bundle(value):
            yield from signals_of(value, f"{prefix}{prefix_of(name, value)}")
