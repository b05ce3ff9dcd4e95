"""Register slice of requests or bursts: neither valid nor ready passes combinationally."""

from __future__ import annotations

from itertools import accumulate
from typing import Any

from myhdl import ConcatSignal, always_comb, block

from merp.hdl.base.signals import bits
from merp.hdl.conversion.entity import Bit, Word
from merp.hdl.memory.requests import Bursts, NumberedRequests, Requests
from merp.hdl.streams.stream_slice import stream_slice


@block
def _part(held: Word, low: int, field: Any) -> Any:
    """Hand on the bits of a field."""
    if isinstance(field.val, bool):

        @always_comb
        def hand_on() -> None:
            field.next = held[low]

    else:
        high = low + len(field)

        @always_comb
        def hand_on() -> None:
            field.next = held[high:low]

    return hand_on


@block
def bundle_slice(
    clk: Bit,
    clear: Bit,
    sink: Requests | NumberedRequests | Bursts,
    source: Requests | NumberedRequests | Bursts,
) -> Any:
    """Pass requests or bursts on through two places.

    clear   in   drop them
    sink    in   requests or bursts
    source  out  the same ones, later

    Latency: one cycle. Throughput: one per cycle. Reset: none, begin with clear.
    """
    names = [name for name in vars(sink) if name not in ("valid", "ready")]
    fields = [getattr(sink, name) for name in names]
    together = ConcatSignal(*reversed(fields))
    held = bits(len(together))
    lows = accumulate((len(field) or 1 for field in fields[:-1]), initial=0)
    parts = [
        _part(held, low=low, field=getattr(source, name))
        for name, low in zip(names, lows, strict=True)
    ]
    return parts, stream_slice(
        clk, clear, data=together, valid=sink.valid, ready=sink.ready,
        held=held, held_valid=source.valid, held_ready=source.ready,
    )  # fmt: skip
