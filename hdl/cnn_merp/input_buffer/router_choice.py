"""Two routers on one bitstream, that of convolutions and that of folded runs: one is at work."""

from __future__ import annotations

from typing import Any

from myhdl import always_comb, block

from merp.hdl.base.signals import Stream, bits, flag
from merp.hdl.conversion.entity import Bit, Word
from merp.models.machines.cnn_merp.params.design import Design


class RouterSide:
    """One of the routers: what it is offered, and where it is."""

    def __init__(self, sink: Stream, row: Word, column: Word, channel: Word) -> None:
        self.rst = flag()
        self.sink = Stream(len(sink.data))
        self.row = bits(len(row))
        self.column = bits(len(column))
        self.channel = bits(len(channel))
        self.complete = flag()
        self.framing_error = flag()


@block
def router_choice(
    rst: Bit,
    start: Bit,
    folded: Bit,
    sink: Stream,
    by_pixel: RouterSide,
    by_map: RouterSide,
    row: Word,
    column: Word,
    channel: Word,
    complete: Bit,
    framing_error: Bit,
    design: Design,
) -> Any:
    """Leave the one at work that the run's order of words is for, and tell where it is.

    The other one is reset when a run begins: it is complete, takes no word, writes nothing and has
    no framing error from a run before. Of a folded run the word that a window waits for is always
    in the last column.
    """
    last_column = design.k - 1

    @always_comb
    def begin() -> None:
        by_pixel.rst.next = rst or (start and folded)
        by_map.rst.next = rst or (start and not folded)

    @always_comb
    def offer() -> None:
        by_pixel.sink.data.next = sink.data
        by_pixel.sink.last.next = sink.last
        by_pixel.sink.valid.next = sink.valid
        by_map.sink.data.next = sink.data
        by_map.sink.last.next = sink.last
        by_map.sink.valid.next = sink.valid
        sink.ready.next = by_pixel.sink.ready or by_map.sink.ready

    @always_comb
    def tell() -> None:
        framing_error.next = by_pixel.framing_error or by_map.framing_error
        if folded:
            row.next = by_map.row
            column.next = last_column
            channel.next = by_map.channel
            complete.next = by_map.complete
        else:
            row.next = by_pixel.row
            column.next = by_pixel.column
            channel.next = by_pixel.channel
            complete.next = by_pixel.complete

    return begin, offer, tell
