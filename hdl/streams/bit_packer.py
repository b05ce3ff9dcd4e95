"""Pack bit strings of varying length into a stream of words without gaps."""

from __future__ import annotations

from typing import Any

from myhdl import always, always_comb, intbv

from merp.hdl.base.signals import Stream, bits, count, flag
from merp.hdl.conversion.entity import Bit, entity
from merp.hdl.streams.bit_string import BitString


@entity
def bit_packer(
    clk: Bit,
    rst: Bit,
    start: Bit,
    string: BitString,
    source: Stream,
    sent: Bit,
) -> Any:
    """Append bit strings and send them in words, the first bit in the lowest place.

    string  in   the bit string to append. It must not be empty: an empty last string would change
                 last on a word that waits. After the last string of the run, zeros fill up the last
                 word. Its room does not depend on source_ready
    source  out  stream; last is set with the last word of the run
    sent    out  the last word was transferred; high until the next start

    Latency: a word is on source one cycle after its last bit was pushed. Throughput: a word per
    cycle, and a string per cycle if it is not longer than a word. Reset: no bits held.
    """
    word = len(source.data)
    capacity = 2 * word - 1 + len(string.value)
    gathered = bits(capacity)  # zeros beyond fill
    fill = count(capacity)
    ending = flag()

    @always_comb
    def admit() -> None:
        string.room.next = fill < 2 * word and not ending

    @always_comb
    def present() -> None:
        source.data.next = gathered[word:]
        source.valid.next = fill >= word or ending
        source.last.next = ending and fill <= word

    @always(clk.posedge)
    def gather() -> None:
        kept = intbv(0)[capacity:]
        placed = intbv(0)[capacity:]
        left = intbv(0)[len(fill) :]
        kept[:] = gathered
        left[:] = fill
        if source.valid and source.ready:
            kept[:] = gathered >> word
            if fill > word:
                left[:] = fill - word
            else:
                left[:] = 0
            if source.last:
                ending.next = False
                sent.next = True
        if string.push:
            placed[:] = string.value
            kept[:] = kept | (placed << left)
            left[:] = left + string.size
            ending.next = string.flush
        gathered.next = kept
        fill.next = left
        if start:
            sent.next = False
        if rst:
            gathered.next = 0
            fill.next = 0
            ending.next = False
            sent.next = False

    return admit, present, gather
