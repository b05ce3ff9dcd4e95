"""The input side: from map words to slots of windows, independent of the CU array.

Source: CNN-MERP, section V.C, figure 9: router, banks, location restore and window register, and
the sequencer that drives them.
"""

from __future__ import annotations

from typing import Any, Literal

from merp.hdl.base.interface import GivenPorts, given_all, given_some
from merp.hdl.base.signals import Stream, bits, count
from merp.hdl.cnn_merp.input_buffer.input_banks import input_banks
from merp.hdl.cnn_merp.input_buffer.location_restore import location_restore
from merp.hdl.cnn_merp.input_buffer.map_router import map_router
from merp.hdl.cnn_merp.input_buffer.wide_banks import wide_banks
from merp.hdl.cnn_merp.ports.maps import (
    BankWrite,
    Floor,
    FoldRowConfig,
    MapConfig,
    PortConfig,
    WideBankWrite,
)
from merp.hdl.cnn_merp.ports.passes import PartialSums
from merp.hdl.cnn_merp.ports.slots import RowSlot, Slot, Verdict
from merp.hdl.cnn_merp.ports.windows import (
    Intake,
    Issued,
    KeptRows,
    PositionHead,
    RouterConfig,
    SumsRoom,
    WindowFetch,
)
from merp.hdl.cnn_merp.sequencer.position_generator import position_generator
from merp.hdl.cnn_merp.sequencer.position_layout import PositionWord
from merp.hdl.cnn_merp.sequencer.row_sequencer import row_sequencer
from merp.hdl.cnn_merp.sequencer.sequencer import sequencer
from merp.hdl.conversion.entity import Bit, Word, entity
from merp.models.machines.cnn_merp.params.design import EngineDesign


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
    design: EngineDesign,
    sums: Literal["map", "gradient", "row"],
) -> Any:
    """Keep k rows of map words in the banks and issue a slot per cycle.

    sums: result of the slots, which decides their order. It is one of: elements of output maps;
    gradients, position by position; gradients, row by row (a RowMapConfig, a RowSlot).

    enable         in   map words may be accepted (kernels are loaded)
    sink           in   map words in the order image, row, column, map
    credit         in   the FIFO behind the sums sent a word, or deltas arrived (sequencers).
    slot, held     out  the slot to compute, and one cycle later its window, tap (0, 0) lowest
    verdict        out  verdict of the sequencer in this cycle; its slot follows two cycles later
    complete       out  all map words of the run were accepted
    framing_error  out  last arrived with a word other than the last of the run; sticky until start
    folded         in   words arrive map by map
    fold           in   (with folded, for gradients row by row) images are the columns of a row
    partial        in   (with an OriginSlot) partial sums at which a position can start
    port           in   (of a design with a map_port of several elements) division of sink into
                        pieces

    Throughput: a map word in and a slot out per cycle. Reset: the run is abandoned.
    """
    config, slot, verdict = ports.config, ports.slot, ports.verdict
    wide = design.map_port > 1
    folded = ports.folded if design.folded else None
    fold = ports.fold if ports.has("fold") else None
    word = PositionWord(design)
    bank_write = WideBankWrite(design) if wide else BankWrite(design)
    taps = bits(design.window_width)
    most = design.max_maps
    if fold:  # words of a row, or with several elements per word, maps of an image
        most = max(most, design.row_words) if wide else design.row_words
    intake = Intake(bits(word.row_width), bits(word.column_width), count(most))
    intake.complete, intake.framing_error = ports.complete, ports.framing_error
    head = PositionHead(word.width)
    kept = KeptRows(intake.place, Floor(word.row_width, word.column_width))
    fetch, issued = WindowFetch(design, word.shift_width), Issued(slot, verdict)
    writer = map_router(
        clk,
        rst,
        start,
        enable=ports.enable,
        config=RouterConfig(config, ports.port if wide else None, folded, fold),
        sink=ports.sink,
        floor=kept.floor,
        bank=bank_write,
        intake=intake,
        design=design,
    )
    if wide:
        banks = wide_banks(
            clk, write=bank_write, read=fetch.read, taps=taps, design=design, folded=folded
        )
    else:
        banks = input_banks(clk, write=bank_write, read=fetch.read, taps=taps, design=design)
    walk = position_generator(
        clk,
        rst,
        start,
        config=config.but(inputs=ports.port.words) if wide else config,
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
            config=config.but(first_rest=fold.first_rest) if fold else config,
            head=head,
            kept=kept,
            filled=ports.credit,
            fetch=fetch,
            issued=issued,
            design=design,
        )
    else:
        issuer = sequencer(
            clk,
            rst,
            start,
            config=config,
            head=head,
            kept=kept,
            room=SumsRoom(ports.credit, ports.partial if ports.has("partial") else None),
            fetch=fetch,
            issued=issued,
            design=design,
        )
    reuse = location_restore(
        clk,
        row_shift=fetch.row_shift,
        column_shift=fetch.column_shift,
        taps=taps,
        held=ports.held,
        k=design.k,
        width=design.fmt.width,
    )
    return writer, banks, walk, issuer, reuse
