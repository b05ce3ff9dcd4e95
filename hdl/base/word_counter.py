"""Count the words that pass a port; the traffic report is audited against these counts."""

from __future__ import annotations

from typing import Any

from myhdl import always

from merp.hdl.base.signals import AxiStream
from merp.hdl.conversion.entity import Bit, Word, entity


@entity
def word_counter(clk: Bit, rst: Bit, start: Bit, stream: AxiStream, words: Word) -> Any:
    """Count the transfers on a port, from its handshake only.

    stream  in   the port, which is only monitored
    words   out  transfers up to the cycle before; start sets it to zero

    Throughput: a word per cycle. Reset: zero.
    """

    @always(clk.posedge)
    def tally() -> None:
        if stream.tvalid and stream.tready:
            words.next = words + 1
        if start or rst:
            words.next = 0

    return tally
