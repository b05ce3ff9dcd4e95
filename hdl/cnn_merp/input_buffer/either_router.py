"""The input side's two orders of words on one bitstream: of convolutions, and of folded runs."""

from __future__ import annotations

from typing import Any

from myhdl import always_comb

from merp.hdl.base.signals import Stream, bits, count, flag
from merp.hdl.cnn_merp.input_buffer.fold_router import fold_router
from merp.hdl.cnn_merp.input_buffer.router import router
from merp.hdl.cnn_merp.ports.maps import BankWrite, Floor, FoldRowConfig, MapConfig
from merp.hdl.conversion.entity import Bit, Word, entity
from merp.models.params.cnn_merp.design import Design


@entity
def either_router(
    clk: Bit,
    rst: Bit,
    start: Bit,
    enable: Bit,
    folded: Bit,
    config: MapConfig,
    sink: Stream,
    floor: Floor,
    bank: BankWrite,
    row: Word,
    column: Word,
    channel: Word,
    complete: Bit,
    framing_error: Bit,
    design: Design,
    fold: FoldRowConfig | None = None,
) -> Any:
    """Accept words in the order that the run has, and write them into the banks.

    folded         in   the run's: elements come in the order image, map, row, column
    enable         in   words may be accepted (kernels are loaded)
    sink           in   the words
    floor          in   what the oldest open position still needs
    bank           out  the word's write into the banks
    row, column, channel  out  place of the next word; rows count over all images
    complete       out  all words of the run were accepted
    framing_error  out  last came with another word than the run's last; sticky until start
    fold           in   (of a kernel update by row) images are the columns of a row, see fold_router

    Latency: a word is in its bank 2 cycles after its transfer. Throughput: a word per cycle.
    Reset: the run is complete.
    """
    last_column = design.k - 1
    width = design.fmt.width
    by_position, by_map = Stream(width), Stream(width)
    position_bank, map_bank = BankWrite(design), BankWrite(design)
    position_row, map_row = bits(len(row)), bits(len(row))
    position_column = bits(len(column))
    position_channel, map_channel = count(design.max_maps), bits(len(channel))
    position_start, map_start = flag(), flag()
    position_complete, map_complete = flag(), flag()
    position_error, map_error = flag(), flag()

    routers = [
        router(
            clk,
            rst,
            start=position_start,
            enable=enable,
            config=config,
            sink=by_position,
            floor=floor,
            bank=position_bank,
            row=position_row,
            column=position_column,
            channel=position_channel,
            complete=position_complete,
            framing_error=position_error,
            design=design,
        ),
        fold_router(
            clk,
            rst,
            start=map_start,
            enable=enable,
            config=config,
            sink=by_map,
            floor=floor,
            bank=map_bank,
            row=map_row,
            channel=map_channel,
            complete=map_complete,
            framing_error=map_error,
            design=design,
            fold=fold,
        ),
    ]

    # The other one is complete, as it was left: it takes no word and writes nothing.
    @always_comb
    def begin() -> None:
        position_start.next = start and not folded
        map_start.next = start and folded

    @always_comb
    def offer() -> None:
        by_position.data.next = sink.data
        by_position.last.next = sink.last
        by_position.valid.next = sink.valid
        by_map.data.next = sink.data
        by_map.last.next = sink.last
        by_map.valid.next = sink.valid
        sink.ready.next = by_position.ready or by_map.ready

    @always_comb
    def write() -> None:
        bank.rows.next = position_bank.rows | map_bank.rows
        bank.columns.next = position_bank.columns | map_bank.columns
        if folded:
            bank.addr.next = map_bank.addr
            bank.data.next = map_bank.data
        else:
            bank.addr.next = position_bank.addr
            bank.data.next = position_bank.data

    @always_comb
    def tell() -> None:
        framing_error.next = position_error or map_error
        if folded:
            row.next = map_row
            column.next = last_column
            channel.next = map_channel
            complete.next = map_complete
        else:
            row.next = position_row
            column.next = position_column
            channel.next = position_channel
            complete.next = position_complete

    return routers, begin, offer, write, tell
