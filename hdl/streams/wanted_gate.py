"""The entrance of a stream that only some runs take."""

from __future__ import annotations

from typing import Any

from myhdl import always_comb, block

from merp.hdl.base.signals import Stream, bits
from merp.hdl.conversion.entity import Bit, Word
from merp.hdl.streams.stream_gate import stream_gate


@block
def wanted_gate(
    clk: Bit,
    rst: Bit,
    start: Bit,
    wanted: Bit,
    beats: Word,
    sink: Stream,
    source: Stream,
    framing_error: Bit,
) -> Any:
    """Let the beats of a run through if it wants them, and none if not.

    wanted         in   with start: the run takes these beats
    beats          in   how many
    sink, source   in, out  the beats
    framing_error  out  last came with another beat than the run's last; until start
    """
    words = bits(len(beats))

    @always_comb
    def choose() -> None:
        words.next = 0
        if wanted:
            words.next = beats

    @always_comb
    def hand_on() -> None:
        source.data.next = sink.data
        source.last.next = sink.last

    gate = stream_gate(
        clk, rst, start, words=words, sink=sink, valid=source.valid, ready=source.ready,
        framing_error=framing_error,
    )  # fmt: skip
    return choose, hand_on, gate
