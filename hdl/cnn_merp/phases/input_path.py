"""The input side: from map words to slots of windows, whatever the CU array does with them.

CNN-MERP section V.C, figure 9: router, banks, location restore and window register, and the
sequencer that drives them.
"""

from __future__ import annotations

from typing import Any, Literal

from merp.hdl.base.interface import GivenPorts, given_all, given_some
from merp.hdl.base.signals import Stream, bits, count, flag
from merp.hdl.cnn_merp.input_buffer.either_router import either_router
from merp.hdl.cnn_merp.input_buffer.input_banks import input_banks
from merp.hdl.cnn_merp.input_buffer.location_restore import location_restore
from merp.hdl.cnn_merp.input_buffer.router import router
from merp.hdl.cnn_merp.input_buffer.wide_banks import wide_banks
from merp.hdl.cnn_merp.input_buffer.wide_router import wide_router
from merp.hdl.cnn_merp.ports.maps import (
    BankRead,
    BankWrite,
    Floor,
    FoldRowConfig,
    MapConfig,
    PortConfig,
    WideBankWrite,
)
from merp.hdl.cnn_merp.ports.passes import PartialSums
from merp.hdl.cnn_merp.ports.slots import RowSlot, Slot, Verdict
from merp.hdl.cnn_merp.sequencer.position_generator import position_generator
from merp.hdl.cnn_merp.sequencer.position_layout import PositionWord
from merp.hdl.cnn_merp.sequencer.row_sequencer import row_sequencer
from merp.hdl.cnn_merp.sequencer.sequencer import sequencer
from merp.hdl.conversion.entity import Bit, Word, entity
from merp.models.machines.cnn_merp.params.design import Design


class InputPorts(GivenPorts):
    """Ports of the input side."""

    MEMBERS = (
        *given_all(
            enable=Bit,
            config=MapConfig,
            sink=Stream,
            credit=Bit,
            slot=Slot | RowSlot,
            held=Word,
            verdict=Verdict,
            complete=Bit,
            framing_error=Bit,
        ),
        *given_some(folded=Bit, fold=FoldRowConfig, partial=PartialSums, port=PortConfig),
    )


@entity
def input_path(
    clk: Bit,
    rst: Bit,
    start: Bit,
    ports: InputPorts,
    design: Design,
    sums: Literal["map", "gradient", "row"],
) -> Any:
    """Keep k rows of map words in the banks and issue a slot per cycle.

    sums: what the slots add up to, which decides their order: elements of output maps; gradients,
    position by position; or gradients row by row (a RowMapConfig, a RowSlot).

    enable         in   map words may be accepted (kernels are loaded)
    sink           in   map words in the order image, row, column, map
    credit         in   the FIFO behind the sums gave a word away, or deltas came (sequencers)
    slot, held     out  what to compute, and one cycle later its window, tap (0, 0) lowest
    verdict        out  the sequencer's of this cycle; its slot comes two cycles later
    complete       out  all map words of the run were accepted
    framing_error  out  last came with another word than the run's last; sticky until start
    folded         in   (of a design for fully connected layers) words come map by map
    fold           in   (there, with gradients row by row) images are the columns of a row
    partial        in   (with an OriginSlot) partial sums that a position can start at
    port           in   (of a design with a map_port of several elements) how sink comes: in pieces

    Throughput: a map word in and a slot out per cycle. Reset: the run is abandoned.
    """
    config, slot, verdict = ports.config, ports.slot, ports.verdict
    wide = design.map_port > 1
    folded = ports.folded if design.folded else None
    fold = ports.fold if ports.has("fold") else None
    word = PositionWord(design)
    bank_write = WideBankWrite(design) if wide else BankWrite(design)
    bank_read = BankRead(design)
    taps = bits(design.window_width)
    written_row = bits(word.row_width)
    written_column = bits(word.column_width)
    most = design.max_maps
    if fold:  # words of a row, or where these have several elements maps of an image
        most = max(most, design.row_words) if wide else design.row_words
    written_channel = count(most)
    head = bits(word.width)
    head_valid = flag()
    head_take = flag()
    floor = Floor(word.row_width, word.column_width)
    row_shift = bits(word.shift_width)
    column_shift = bits(word.shift_width)
    places: dict[str, Any] = dict(
        enable=ports.enable,
        config=config,
        sink=ports.sink,
        floor=floor,
        bank=bank_write,
        row=written_row,
        column=written_column,
        channel=written_channel,
        complete=ports.complete,
        framing_error=ports.framing_error,
        design=design,
    )
    if wide:
        writer = wide_router(clk, rst, start, port=ports.port, folded=folded, fold=fold, **places)
    elif design.folded:
        writer = either_router(clk, rst, start, folded=folded, fold=fold, **places)
    else:
        writer = router(clk, rst, start, **places)
    if not wide:
        banks = input_banks(clk, write=bank_write, read=bank_read, taps=taps, design=design)
    else:
        banks = wide_banks(
            clk, write=bank_write, read=bank_read, taps=taps, design=design, folded=folded
        )
    walk = position_generator(
        clk,
        rst,
        start,
        config=config.but(inputs=ports.port.words) if wide else config,
        take=head_take,
        valid=head_valid,
        head=head,
        design=design,
        sweeps=sums == "row",
        fold=fold,
    )
    if sums == "row":
        issuer = row_sequencer(
            clk,
            rst,
            start,
            config=config,
            head=head,
            head_valid=head_valid,
            head_take=head_take,
            written_row=written_row,
            filled=ports.credit,
            floor=floor,
            read=bank_read,
            row_shift=row_shift,
            column_shift=column_shift,
            slot=slot,
            verdict=verdict,
            design=design,
            fold=fold,
        )
    else:
        issuer = sequencer(
            clk,
            rst,
            start,
            config=config,
            head=head,
            head_valid=head_valid,
            head_take=head_take,
            written_row=written_row,
            written_column=written_column,
            written_channel=written_channel,
            credit=ports.credit,
            floor=floor,
            read=bank_read,
            row_shift=row_shift,
            column_shift=column_shift,
            slot=slot,
            verdict=verdict,
            design=design,
            gradients=sums == "gradient",
            partial=ports.partial if ports.has("partial") else None,
        )
    reuse = location_restore(
        clk,
        row_shift=row_shift,
        column_shift=column_shift,
        taps=taps,
        held=ports.held,
        k=design.k,
        width=design.fmt.width,
    )
    return writer, banks, walk, issuer, reuse
