"""Input gate of a stream: admits the words of one run and checks their last."""

from __future__ import annotations

from typing import Any

from myhdl import always, always_comb

from merp.hdl.base.signals import Stream, bits
from merp.hdl.conversion.entity import Bit, Word, entity


@entity
def stream_gate(
    clk: Bit,
    rst: Bit,
    start: Bit,
    words: Word,
    sink: Stream,
    valid: Bit,
    ready: Bit,
    framing_error: Bit,
) -> Any:
    """Admit the words of a run, then close.

    words          in       number of words in the run; 0 is allowed
    sink           in       the words
    valid, ready   out, in  handshake behind the gate; data does not pass through here
    framing_error  out      last arrived with a word other than the last of the run; sticky until
                            start

    Latency: combinational. Throughput: a word per cycle. Reset: closed.
    """
    left = bits(len(words))

    @always_comb
    def admit() -> None:
        valid.next = sink.valid and left != 0
        sink.ready.next = ready and left != 0

    @always(clk.posedge)
    def tally() -> None:
        if sink.valid and sink.ready:
            left.next = left - 1
            if sink.last != (left == 1):
                framing_error.next = True
        if start:
            left.next = words
            framing_error.next = False
        if rst:
            left.next = 0
            framing_error.next = False

    return admit, tally
