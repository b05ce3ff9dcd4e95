"""Signals and streams.

A bundle is a class of signals. MyHDL flattens the argument ``sink`` to ``sink_data``,
``sink_valid``, ... Every field holds raw bits.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from myhdl import Signal, intbv

from merp.hdl.conversion.base.internals import AnySignal
from merp.hdl.conversion.ports import is_bundle, prefix_of


def bits(width: int, value: int = 0) -> Any:
    """Return a signal of ``width`` raw bits."""
    return Signal(intbv(value)[width:])


def signed(width: int) -> Any:
    """Return a signal for a number of ``width`` bits in two's complement."""
    return Signal(intbv(0, min=-(1 << width - 1), max=1 << width - 1))


def flag(value: int = 0) -> Any:
    """Return a signal of a single bit."""
    return Signal(bool(value))


def count(largest: int) -> Any:
    """Return a signal for the numbers 0 to ``largest``."""
    return bits(max(1, int(largest).bit_length()))


BYTE = 8


class Stream:
    """A stream of words: a transfer happens in a cycle with ``valid`` and ``ready`` both high.

    Once valid is high, valid, data and last do not change until the transfer. Valid never waits for
    ready.
    """

    keep: Any = None  # which bytes count, if a beat has several elements

    def __init__(self, width: int) -> None:
        self.data = bits(width)
        self.valid = flag()
        self.ready = flag()
        self.last = flag()


class AxiStream:
    """The same stream under AXI4-Stream names, for the accelerator's top level.

    If a beat holds several elements of ``width`` bits, the first element is lowest. All beats
    except the last are full. ``tkeep``, a bit per byte, marks the elements of the last beat that
    count.
    """

    tkeep: Any = None  # which bytes count, if a beat has several elements
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
    """Return a source's ``Stream`` with ``keep``, which marks the elements that count."""
    stream = stream_of(axi)
    if axi.tkeep is not None:
        stream.keep = axi.tkeep
    return stream


def beats(like: Stream) -> Stream:
    """Make a stream of beats of several elements, with ``keep``."""
    stream = Stream(len(like.data))
    stream.keep = bits(len(like.keep))
    return stream


def stream_of(axi: AxiStream) -> Stream:
    """Return the signals of an AXI4-Stream bundle under the names of a ``Stream``."""
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
            """Return the bundle or signal of this name."""


def signals_of(bundle: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Return name and signal of every port that ``bundle`` flattens to, recursively."""
    for name, value in vars(bundle).items():
        if isinstance(value, AnySignal):
            yield prefix + name, value
        elif is_bundle(value):
            yield from signals_of(value, f"{prefix}{prefix_of(name, value)}")
