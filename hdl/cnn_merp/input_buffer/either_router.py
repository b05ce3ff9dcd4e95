"""The input side's two orders of words on one bitstream: of convolutions, and of folded runs."""

from __future__ import annotations

from typing import Any

from myhdl import always_comb

from merp.hdl.base.signals import Stream
from merp.hdl.cnn_merp.input_buffer.fold_router import fold_router
from merp.hdl.cnn_merp.input_buffer.router import router
from merp.hdl.cnn_merp.input_buffer.router_choice import RouterSide, router_choice
from merp.hdl.cnn_merp.ports.maps import BankWrite, Floor, FoldRowConfig, MapConfig
from merp.hdl.conversion.entity import Bit, Word, entity
from merp.models.machines.cnn_merp.params.design import Design


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
    position_bank, map_bank = BankWrite(design), BankWrite(design)
    by_pixel, by_map = (RouterSide(sink, row, column, channel) for _ in range(2))
    routers = [
        router(
            clk,
            by_pixel.rst,
            start=start,
            enable=enable,
            config=config,
            sink=by_pixel.sink,
            floor=floor,
            bank=position_bank,
            row=by_pixel.row,
            column=by_pixel.column,
            channel=by_pixel.channel,
            complete=by_pixel.complete,
            framing_error=by_pixel.framing_error,
            design=design,
        ),
        fold_router(
            clk,
            by_map.rst,
            start=start,
            enable=enable,
            config=config,
            sink=by_map.sink,
            floor=floor,
            bank=map_bank,
            row=by_map.row,
            channel=by_map.channel,
            complete=by_map.complete,
            framing_error=by_map.framing_error,
            design=design,
            fold=fold,
        ),
        router_choice(
            rst=rst,
            start=start,
            folded=folded,
            sink=sink,
            by_pixel=by_pixel,
            by_map=by_map,
            row=row,
            column=column,
            channel=channel,
            complete=complete,
            framing_error=framing_error,
            design=design,
        ),
    ]

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

    return routers, write
