"""Deltas of two rows of output positions, for a kernel update that sweeps along rows."""

from __future__ import annotations

from typing import Any

from myhdl import always, always_comb

from merp.hdl.base.signals import Stream, count, flag
from merp.hdl.cnn_merp.delta_buffer.delta_memory import delta_memory
from merp.hdl.cnn_merp.delta_buffer.delta_ports import (
    Arriving,
    Collected,
    HalfRead,
    HalfWrite,
    SlotDeltas,
)
from merp.hdl.cnn_merp.delta_buffer.delta_words import delta_words
from merp.hdl.cnn_merp.ports.maps import GradientMapConfig
from merp.hdl.cnn_merp.ports.slots import RowSlot
from merp.hdl.conversion.entity import Bit, entity
from merp.models.machines.cnn_merp.params.design import EngineDesign


@entity
def delta_row_buffer(
    clk: Bit,
    rst: Bit,
    start: Bit,
    config: GradientMapConfig,
    sink: Stream,
    slot: RowSlot,
    operand: SlotDeltas,
    arriving: Arriving,
    design: EngineDesign,
) -> Any:
    """Keep the deltas of two rows: one is used while the other one arrives.

    sink      in   delta words, see delta_words
    slot      in   the word to read; a slot with row_last frees the row
    operand   out  the word of the slot one cycle earlier; opening: it belongs to the first row of
                   the run
    arriving  out  each delta word, a cycle after its transfer. filled: one more row is complete,
                   and a slot may follow 2 cycles later. Framing errors
    config    in   with first_images, images are the columns of a row, and the first row may be
                   shorter

    Throughput: a delta word in and a word of n_cu deltas out per cycle. Reset: nothing is taken.
    """
    row_words = design.groups * design.max_size

    place = count(row_words)  # place in its row of the word that is being collected
    rows_held = count(2)
    room = flag()
    collected = Collected(design)
    word_taken, row_taken = collected.word_taken, collected.row_taken
    row_read = flag()

    words = delta_words(
        clk,
        rst,
        start,
        config=config,
        sink=sink,
        room=room,
        collected=collected,
        element=arriving.element,
        framing_error=arriving.framing_error,
        design=design,
    )
    delta_ram = delta_memory(
        clk,
        rst,
        start,
        write=HalfWrite(word_taken, place, row_taken, collected.word),
        read=HalfRead(slot.delta_word, row_read),
        operand=operand,
        half_words=row_words,
    )

    @always_comb
    def tell() -> None:
        room.next = rows_held != 2
        row_read.next = slot.valid and slot.row_last

    @always(clk.posedge)
    def keep_count() -> None:
        arriving.filled.next = row_taken
        if row_taken:
            place.next = 0
        elif word_taken:
            place.next = place + 1
        if row_taken and not row_read:
            rows_held.next = rows_held + 1
        elif row_read and not row_taken:
            rows_held.next = rows_held - 1
        if start:
            place.next = 0
            rows_held.next = 0
        if rst:
            arriving.filled.next = False

    return words, delta_ram, tell, keep_count
