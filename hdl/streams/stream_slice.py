"""Register slice of a stream: neither valid nor ready passes combinationally."""

from __future__ import annotations

from typing import Any

from myhdl import always, always_comb

from merp.hdl.base.signals import bits, flag
from merp.hdl.conversion.entity import Bit, Word, entity


@entity
def stream_slice(
    clk: Bit,
    clear: Bit,
    data: Word,
    valid: Bit,
    ready: Bit,
    held: Word,
    held_valid: Bit,
    held_ready: Bit,
) -> Any:
    """Pass words on through registers; a second place holds the word that comes as ready falls.

    clear               in  drop the held words
    data, valid, ready  in, in, out  words
    held, held_valid, held_ready  out, out, in  the same words, later

    Latency: one cycle. Throughput: a word per cycle. Reset: none, begin with clear.
    """
    spare = bits(len(data))
    waiting = flag()  # the second place holds a word

    @always_comb
    def offer() -> None:
        ready.next = not waiting

    @always(clk.posedge)
    def move() -> None:
        if held_ready or not held_valid:
            held_valid.next = valid or waiting
            waiting.next = False
            if waiting:
                held.next = spare
            else:
                held.next = data
        elif not waiting:
            spare.next = data
            waiting.next = valid
        if clear:
            held_valid.next = False
            waiting.next = False

    return offer, move
