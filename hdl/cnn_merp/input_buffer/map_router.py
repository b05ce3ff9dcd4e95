"""Router of the input side: words in the order of pixels or of maps, single or in pieces.

Each router handles one order. Adapters surround the routers: a selection if a bitstream runs both
orders, and a distribution to several memories if words arrive in pieces.
"""

from __future__ import annotations

from typing import Any

from myhdl import ConcatSignal, always_comb, block, intbv

from merp.hdl.base.signals import Stream, bits, count
from merp.hdl.cnn_merp.input_buffer.fold_router import fold_router
from merp.hdl.cnn_merp.input_buffer.router import router
from merp.hdl.cnn_merp.input_buffer.router_choice import router_choice
from merp.hdl.cnn_merp.input_buffer.wide_fold_router import wide_fold_router
from merp.hdl.cnn_merp.ports.maps import BankWrite, Floor, WideBankWrite
from merp.hdl.cnn_merp.ports.windows import FoldedConfig, Intake, RouterConfig, RouterSide
from merp.hdl.conversion.entity import Bit, Word
from merp.models.machines.cnn_merp.params.design import EngineDesign


@block
def _spread(write: BankWrite, bank: WideBankWrite, lanes: int) -> Any:
    """Write the elements of a word into the memories of one bank, each into its own."""
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
    """Return the first map of the word of a pixel."""
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
def _piece_router(
    clk: Bit,
    rst: Bit,
    start: Bit,
    enable: Bit,
    config: RouterConfig,
    sink: Stream,
    floor: Floor,
    bank: WideBankWrite,
    intake: Intake,
    design: EngineDesign,
) -> Any:
    """A router whose words are pieces of the elements of a pixel.

    Map i of a pixel is in word i div map_port, in memory i mod map_port of the bank: a pixel has
    ceil(n / map_port) pieces. If the last piece of a pixel is not full, the elements behind its end
    are written and never read.
    """
    lanes = design.map_port
    write = BankWrite(design)
    place = intake.place
    channel_word = count(design.max_maps)
    pieces = Intake(place.row, place.column, channel_word)
    pieces.complete, pieces.framing_error = intake.complete, intake.framing_error
    words = router(
        clk,
        rst,
        start,
        enable=enable,
        config=config.map.but(inputs=config.port.words),
        sink=sink,
        floor=floor,
        bank=write,
        intake=pieces,
        design=design,
    )
    return (
        words,
        _spread(write=write, bank=bank, lanes=lanes),
        _first_map(channel_word=channel_word, channel=place.channel, lanes=lanes),
    )


@block
def _either(
    folded: Bit,
    by_pixel: Any,
    by_map: Any,
    bank: Any,
) -> Any:
    """Select the write of the active router; the other one writes nothing.

    All three arguments are ``BankWrite``, or all three are ``WideBankWrite``.
    """

    @always_comb
    def choose() -> None:
        if folded:
            bank.addr.next = by_map.addr
            bank.data.next = by_map.data
        else:
            bank.addr.next = by_pixel.addr
            bank.data.next = by_pixel.data

    if isinstance(bank, WideBankWrite):

        @always_comb
        def write_places() -> None:
            bank.places.next = by_pixel.places | by_map.places

        return choose, write_places

    @always_comb
    def write() -> None:
        bank.rows.next = by_pixel.rows | by_map.rows
        bank.columns.next = by_pixel.columns | by_map.columns

    return choose, write


@block
def map_router(
    clk: Bit,
    rst: Bit,
    start: Bit,
    enable: Bit,
    config: RouterConfig,
    sink: Stream,
    floor: Floor,
    bank: BankWrite | WideBankWrite,
    intake: Intake,
    design: EngineDesign,
) -> Any:
    """Accept words, or pieces of map_port elements, and write them into the banks.

    enable  in   words may be accepted (kernels are loaded)
    sink    in   the words; the first piece of each pixel begins with its first map
    floor   in   data that the oldest open position still uses
    bank    out  the write into the banks
    intake  out  place of the next element, whether the run is complete, and framing errors

    Latency: an element is in its bank 2 cycles after its transfer. Throughput: a word, or a piece,
    per cycle. Reset: the run is complete.
    """
    wide = config.port is not None
    common: dict[str, Any] = dict(enable=enable, floor=floor, design=design)

    pixels: Any = _piece_router if wide else router
    pixel_order: dict[str, Any] = common | {"config": config if wide else config.map}
    if config.folded is None:
        return pixels(clk, rst, start, sink=sink, bank=bank, intake=intake, **pixel_order)

    by_pixel, by_map = (RouterSide(sink, intake.place, by_map=each) for each in (False, True))
    pixel_bank, map_bank = (type(bank)(design) for _ in range(2))
    folded = (wide_fold_router if wide else fold_router)(
        clk,
        by_map.rst,
        start,
        config=FoldedConfig(config.map, config.rows),
        sink=by_map.sink,
        bank=map_bank,
        intake=by_map.intake,
        **common,
    )
    return (
        pixels(
            clk,
            by_pixel.rst,
            start,
            sink=by_pixel.sink,
            bank=pixel_bank,
            intake=by_pixel.intake,
            **pixel_order,
        ),
        folded,
        router_choice(
            rst=rst,
            start=start,
            folded=config.folded,
            sink=sink,
            by_pixel=by_pixel,
            by_map=by_map,
            intake=intake,
            design=design,
        ),
        _either(folded=config.folded, by_pixel=pixel_bank, by_map=map_bank, bank=bank),
    )
