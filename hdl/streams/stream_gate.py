"""The entrance of a stream: the words of one run, not one more, and its last where it belongs."""

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
    """Let the words of a run through and close behind them.

    words          in   how many the run takes; none is allowed
    sink           in   the words
    valid, ready   out, in  handshake behind the entrance; data does not pass through here
    framing_error  out  last came with another word than the run's last; sticky until start

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
