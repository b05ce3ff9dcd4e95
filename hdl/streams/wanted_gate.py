"""Input gate of a stream that only some runs use."""

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
    """Admit the beats of a run if the run uses them, and none otherwise.

    wanted         in       with start: the run takes these beats
    beats          in       number of beats
    sink, source   in, out  the beats
    framing_error  out      last arrived with a beat other than the last of the run; sticky until
                            start

    A register closes the gate, whereas ``stream_gate`` compares a count. The register keeps the
    path short: streams meet behind the gate, and the ready of each waits for the valid of the
    others. Reset: closed.
    """
    left = bits(len(beats))
    some, final = flag(), flag()  # beats are left; one beat is left

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
