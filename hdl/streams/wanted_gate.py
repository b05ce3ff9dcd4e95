"""The entrance of a stream that only some runs take."""

from __future__ import annotations

from typing import Any

from myhdl import always, always_comb, block

from merp.hdl.base.signals import Stream, bits, flag
from merp.hdl.conversion.entity import Bit, Word


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

    It shuts by a register, where ``stream_gate`` compares: streams meet behind it, and each one's
    ready waits for the others' valid. Reset: none is let through.
    """
    left = bits(len(beats))
    some, final = flag(), flag()  # beats are left; a single one

    @always_comb
    def admit() -> None:
        source.data.next = sink.data
        source.last.next = sink.last
        source.valid.next = sink.valid and some
        sink.ready.next = source.ready and some

    @always(clk.posedge)
    def tally() -> None:
        if sink.valid and sink.ready:
            left.next = left - 1
            some.next = not final
            final.next = left == 2
            if sink.last != final:
                framing_error.next = True
        if start:
            left.next = beats
            some.next = wanted and beats != 0
            final.next = beats == 1
            framing_error.next = False
        if rst:
            some.next = False
            framing_error.next = False

    return admit, tally
