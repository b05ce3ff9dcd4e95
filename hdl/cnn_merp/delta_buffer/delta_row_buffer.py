"""Deltas of two rows of output positions, for a kernel update that sweeps along rows."""

from __future__ import annotations

from typing import Any

from myhdl import always, always_comb

from merp.hdl.base.signals import Stream, bits, count, flag
from merp.hdl.cnn_merp.delta_buffer.delta_memory import delta_memory
from merp.hdl.cnn_merp.delta_buffer.delta_words import delta_words
from merp.hdl.cnn_merp.ports.gradients import DeltaElement
from merp.hdl.cnn_merp.ports.maps import FoldRowConfig, GradientMapConfig
from merp.hdl.cnn_merp.ports.slots import RowSlot
from merp.hdl.conversion.entity import Bit, Word, entity
from merp.models.machines.cnn_merp.params.design import Design


@entity
def delta_row_buffer(
    clk: Bit,
    rst: Bit,
    start: Bit,
    config: GradientMapConfig,
    sink: Stream,
    slot: RowSlot,
    filled: Bit,
    deltas: Word,
    opening: Bit,
    element: DeltaElement,
    framing_error: Bit,
    design: Design,
    fold: FoldRowConfig | None = None,
) -> Any:
    """Keep the deltas of two rows: one is used while the other one arrives.

    sink           in   delta words, see delta_words
    slot           in   which word is read; a slot with row_last frees the row
    filled         out  pulse: one more row is there; a slot may come 2 cycles later
    deltas         out  the word of the slot one cycle earlier, CU 0 in the lowest bits
    opening        out  the slot belongs to the run's first row
    element        out  each delta word, one cycle after its transfer
    framing_error  out  last came with another word than the run's last; sticky until start
    fold           in   images are the columns of a row, and the first row may be shorter

    Throughput: a delta word in and a word of n_cu deltas out per cycle. Reset: nothing is taken.
    """
    row_words = design.groups * design.max_size

    cu_group = count(design.groups)
    place = count(row_words)  # of the word that is being collected, in its row
    rows_held = count(2)
    room = flag()
    word_taken, position_taken, row_taken = flag(), flag(), flag()
    row_read = flag()
    word = bits(design.n_cu * design.fmt.width)

    words = delta_words(
        clk,
        rst,
        start,
        config=config,
        sink=sink,
        room=room,
        cu_group=cu_group,
        word_taken=word_taken,
        position_taken=position_taken,
        row_taken=row_taken,
        word=word,
        element=element,
        framing_error=framing_error,
        design=design,
        fold=fold,
    )
    memory = delta_memory(
        clk,
        rst,
        start,
        taken=word_taken,
        place=place,
        half_taken=row_taken,
        word=word,
        read_place=slot.delta_word,
        half_read=row_read,
        deltas=deltas,
        opening=opening,
        half_words=row_words,
    )

    @always_comb
    def tell() -> None:
        room.next = rows_held != 2
        row_read.next = slot.valid and slot.row_last

    @always(clk.posedge)
    def keep_count() -> None:
        filled.next = row_taken
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
            filled.next = False

    return words, memory, tell, keep_count
