"""Hand on the words of one of several engines to a write stream."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from myhdl import always_comb, block

from merp.hdl.base.signals import Bundles, Stream
from merp.hdl.conversion.entity import Word, entity


@block
def _choose(selected: Word, engine: Stream, others: Stream, chosen: Stream, number: int) -> Any:
    """Choose the words of an engine while it is selected, otherwise those of the others.

    The others need no gate here: each of them looks at its own number.
    """

    @always_comb
    def choose() -> None:
        engine.ready.next = chosen.ready and selected == number
        others.ready.next = chosen.ready
        if selected == number:
            chosen.data.next = engine.data
            chosen.last.next = engine.last
            chosen.valid.next = engine.valid
        else:
            chosen.data.next = others.data
            chosen.last.next = others.last
            chosen.valid.next = others.valid

    return choose


@block
def _only(selected: Word, engine: Stream, chosen: Stream, number: int) -> Any:
    """Hand on the words of an engine while it is selected."""

    @always_comb
    def hand_on() -> None:
        engine.ready.next = chosen.ready and selected == number
        chosen.data.next = engine.data
        chosen.last.next = engine.last
        chosen.valid.next = engine.valid and selected == number

    return hand_on


@entity
def write_switch(selected: Word, engines: Bundles, stream: Stream, numbers: Sequence[int]) -> Any:
    """Hand on the words of the selected engine to memory, if it writes this stream.

    selected  in   number of the engine; it changes only between the passes of engines
    engines   in   a stream of each engine of ``numbers``, in its order; keep does not pass through
    stream    out  words to memory

    Latency: combinational. Throughput: a word per cycle. Reset: none.
    """
    *sources, last = vars(engines).values()
    *firsts, final = numbers
    chosen = [stream, *(Stream(len(stream.data)) for _ in sources)]
    parts = [
        _choose(selected, engine=source, others=others, chosen=out, number=number)
        for source, number, out, others in zip(
            sources, firsts, chosen[:-1], chosen[1:], strict=True
        )
    ]
    return parts, _only(selected, engine=last, chosen=chosen[-1], number=final)
