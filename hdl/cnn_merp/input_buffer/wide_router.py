"""The router of maps that come several elements to a beat: a pixel's elements share a word."""

from __future__ import annotations

from typing import Any

from myhdl import ConcatSignal, always_comb, block, intbv

from merp.hdl.base.signals import Stream, bits, count
from merp.hdl.cnn_merp.input_buffer.router import router
from merp.hdl.cnn_merp.input_buffer.router_choice import RouterSide, router_choice
from merp.hdl.cnn_merp.input_buffer.wide_fold_router import wide_fold_router
from merp.hdl.cnn_merp.ports.maps import (
    BankWrite,
    Floor,
    FoldRowConfig,
    MapConfig,
    PortConfig,
    WideBankWrite,
)
from merp.hdl.conversion.entity import Bit, Word, entity
from merp.models.machines.cnn_merp.params.design import Design


@block
def _spread(write: BankWrite, bank: WideBankWrite, lanes: int) -> Any:
    """Write a word's elements into the memories of one bank, each into its own."""
    k = len(write.rows)
    taps = k * k
    one = bits(taps)
    places = ConcatSignal(*[one] * lanes)

    @always_comb
    def select() -> None:
        for r in range(k):
            for c in range(k):
                if write.rows[r] and write.columns[c]:
                    one.next[r * k + c] = 1
                else:
                    one.next[r * k + c] = 0

    @always_comb
    def spread() -> None:
        bank.places.next = places
        bank.addr.next = write.addr
        bank.data.next = write.data

    return select, spread


@block
def _first_map(channel_word: Word, channel: Word, lanes: int) -> Any:
    """The first map of a pixel's word."""
    low = (lanes - 1).bit_length()
    size = len(channel) + low

    @always_comb
    def multiply() -> None:
        shifted = intbv(0)[size:]
        shifted[:] = channel_word
        shifted[:] = shifted << low
        channel.next = shifted[len(channel) :]

    return multiply


@block
def _either(
    folded: Bit,
    by_pixel: WideBankWrite,
    by_map: WideBankWrite,
    bank: WideBankWrite,
) -> Any:
    """The write of the router that is at work; the other one writes nothing."""

    @always_comb
    def choose() -> None:
        bank.places.next = by_pixel.places | by_map.places
        if folded:
            bank.addr.next = by_map.addr
            bank.data.next = by_map.data
        else:
            bank.addr.next = by_pixel.addr
            bank.data.next = by_pixel.data

    return choose


@entity
def wide_router(
    clk: Bit,
    rst: Bit,
    start: Bit,
    enable: Bit,
    config: MapConfig,
    port: PortConfig,
    sink: Stream,
    floor: Floor,
    bank: WideBankWrite,
    row: Word,
    column: Word,
    channel: Word,
    complete: Bit,
    framing_error: Bit,
    design: Design,
    folded: Bit = None,
    fold: FoldRowConfig | None = None,
) -> Any:
    """Accept pieces of maps and write them into the banks, map_port elements in a cycle.

    Map i of a pixel stands in word i div map_port, in the bank's memory i mod map_port: the router
    takes a piece for a map word, and a pixel has ceil(n / map_port) of them. Where a pixel's last
    piece ends earlier, what is behind its end is written and never read.

    enable         in   words may be accepted (kernels are loaded)
    sink           in   pieces of a pixel's elements, each pixel's first one from its first map on
    floor          in   what the oldest open position still needs
    bank           out  the write into the banks
    row, column, channel  out  place of the next element; rows count over all images
    complete       out  all words of the run were accepted
    framing_error  out  last came with another piece than the run's last; sticky until start
    folded         in   the run's: elements come in the order image, map, row, column
    fold           in   (of a kernel update by row) images are the columns of a row

    Latency: an element is in its bank 2 cycles after its transfer. Throughput: a piece per cycle.
    Reset: the run is complete.
    """
    lanes = design.map_port
    write = BankWrite(design)
    channel_word = count(design.max_maps)
    places: dict[str, Any] = dict(enable=enable, floor=floor, design=design)
    if folded is None:
        pieces = router(
            clk,
            rst,
            start,
            config=config.but(inputs=port.words),
            sink=sink,
            bank=write,
            row=row,
            column=column,
            channel=channel_word,
            complete=complete,
            framing_error=framing_error,
            **places,
        )
        return (
            pieces,
            _spread(write=write, bank=bank, lanes=lanes),
            _first_map(channel_word=channel_word, channel=channel, lanes=lanes),
        )

    pixel_bank, map_bank = WideBankWrite(design), WideBankWrite(design)
    by_pixel, by_map = (RouterSide(sink, row, column, channel) for _ in range(2))
    return [
        router(
            clk,
            by_pixel.rst,
            start=start,
            config=config.but(inputs=port.words),
            sink=by_pixel.sink,
            bank=write,
            row=by_pixel.row,
            column=by_pixel.column,
            channel=channel_word,
            complete=by_pixel.complete,
            framing_error=by_pixel.framing_error,
            **places,
        ),
        wide_fold_router(
            clk,
            by_map.rst,
            start=start,
            config=config,
            sink=by_map.sink,
            bank=map_bank,
            row=by_map.row,
            channel=by_map.channel,
            complete=by_map.complete,
            framing_error=by_map.framing_error,
            fold=fold,
            **places,
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
        _spread(write=write, bank=pixel_bank, lanes=lanes),
        _first_map(channel_word=channel_word, channel=by_pixel.channel, lanes=lanes),
        _either(folded=folded, by_pixel=pixel_bank, by_map=map_bank, bank=bank),
    ]
