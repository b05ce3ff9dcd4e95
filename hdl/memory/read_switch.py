"""Hand on the words of a read stream to one of several engines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from myhdl import ConcatSignal, always_comb, block

from merp.hdl.base.signals import Bundles, Stream, flag
from merp.hdl.conversion.entity import Bit, Word, entity


@block
def _offer(selected: Word, stream: Stream, engine: Stream, ready: Bit, number: int) -> Any:
    """Offer the words to an engine while it is selected."""

    @always_comb
    def offer() -> None:
        engine.data.next = stream.data
        engine.last.next = stream.last
        engine.valid.next = stream.valid and selected == number
        ready.next = engine.ready and selected == number

    return offer


@entity
def read_switch(selected: Word, stream: Stream, engines: Bundles, numbers: Sequence[int]) -> Any:
    """Hand on the words of memory to the selected engine, if it reads this stream.

    selected  in   number of the engine; it changes only between the passes of engines
    stream    in   words from memory; keep does not pass through here
    engines   out  a stream for each engine of ``numbers``, in its order

    Latency: combinational. Throughput: a word per cycle. Reset: none.
    """
    sinks = list(vars(engines).values())
    readies = [flag() for _ in sinks]
    joined = ConcatSignal(*readies) if len(readies) > 1 else readies[0]

    @always_comb
    def take() -> None:
        stream.ready.next = joined != 0

    return take, [
        _offer(selected, stream=stream, engine=sink, ready=ready, number=number)
        for sink, ready, number in zip(sinks, readies, numbers, strict=True)
    ]
