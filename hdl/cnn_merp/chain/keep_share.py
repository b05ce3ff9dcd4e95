"""Split the maps of each position between this node and the next: the first maps stay here."""

from __future__ import annotations

from typing import Any

from myhdl import always, always_comb

from merp.hdl.base.signals import Stream, bits, flag
from merp.hdl.cnn_merp.chain.ports import ShareConfig
from merp.hdl.conversion.entity import Bit, entity


@entity
def keep_share(
    clk: Bit, rst: Bit, start: Bit, config: ShareConfig, sink: Stream, mine: Stream, on: Stream
) -> Any:
    """Distribute the words of each position: the first to mine, the others to on.

    config  in   own words of a position, words of a position, and positions of the run
    sink    in   words in the order image, row, column, map
    mine    out  the first own words of each position; last with the last one of the run
    on      out  the other words; last as in sink

    Latency: combinational. Throughput: a word per cycle. Reset, and start: a position begins.
    """
    index = bits(len(config.maps))
    left = bits(len(config.positions))
    own = flag()

    @always_comb
    def compare() -> None:
        own.next = index < config.own

    @always_comb
    def deal() -> None:
        mine.data.next = sink.data
        mine.last.next = left == 1 and index == config.own - 1
        mine.valid.next = sink.valid and own
        on.data.next = sink.data
        on.last.next = sink.last
        on.valid.next = sink.valid and not own
        if own:
            sink.ready.next = mine.ready
        else:
            sink.ready.next = on.ready

    @always(clk.posedge)
    def walk() -> None:
        if sink.valid and ((own and mine.ready) or (not own and on.ready)):
            if index == config.maps - 1:
                index.next = 0
                left.next = left - 1
            else:
                index.next = index + 1
        if start:
            left.next = config.positions
        if start or rst:
            index.next = 0

    return compare, deal, walk
