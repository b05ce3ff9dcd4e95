"""Merge the deltas of each position: the node's own maps, then the maps of the nodes behind it."""

from __future__ import annotations

from typing import Any

from myhdl import always, always_comb

from merp.hdl.base.signals import Stream, bits, flag
from merp.hdl.cnn_merp.chain.ports import ShareConfig
from merp.hdl.conversion.entity import Bit, entity


@entity
def put_together(
    clk: Bit, rst: Bit, start: Bit, config: ShareConfig, first: Stream, second: Stream,
    source: Stream,
) -> Any:  # fmt: skip
    """Merge the words of each position: own words from first, then the rest from second.

    config  in   own words of a position, and words of a position
    first   in   own words of each position
    second  in   the other words
    source  out  all words; last as in second

    Latency: combinational. Throughput: a word per cycle. Reset, and start: a position begins.
    """
    index = bits(len(config.maps))
    own = flag()

    @always_comb
    def compare() -> None:
        own.next = index < config.own

    @always_comb
    def gather() -> None:
        first.ready.next = source.ready and own
        second.ready.next = source.ready and not own
        if own:
            source.data.next = first.data
            source.last.next = False
            source.valid.next = first.valid
        else:
            source.data.next = second.data
            source.last.next = second.last
            source.valid.next = second.valid

    @always(clk.posedge)
    def walk() -> None:
        if source.ready and ((own and first.valid) or (not own and second.valid)):
            if index == config.maps - 1:
                index.next = 0
            else:
                index.next = index + 1
        if start or rst:
            index.next = 0

    return compare, gather, walk
