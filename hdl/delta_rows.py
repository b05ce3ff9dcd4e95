"""Deltas of two rows of output positions, for a kernel update that sweeps along rows."""

from __future__ import annotations

from typing import Any

from myhdl import always, always_comb, intbv

from merp.hdl.bundles import Stream, bits, count, flag
from merp.hdl.delta_words import delta_words
from merp.hdl.entity import entity
from merp.hdl.gradient_bundles import DeltaElement, GradientMapConfig, RowSlot
from merp.models.params.design import Design


@entity
def delta_rows(
    clk: Any,
    rst: Any,
    start: Any,
    config: GradientMapConfig,
    sink: Stream,
    slot: RowSlot,
    filled: Any,
    deltas: Any,
    opening: Any,
    element: DeltaElement,
    framing_error: Any,
    design: Design,
) -> Any:
    """Keep the deltas of two rows: one is used while the other one arrives.

    sink           in   delta words, see delta_words
    slot           in   which word is read; a slot with row_last frees the row
    filled         out  pulse: one more row is there; a slot may come 2 cycles later
    deltas         out  the word of the slot one cycle earlier, CU 0 in the lowest bits
    opening        out  the slot belongs to the run's first row
    element        out  each delta word, one cycle after its transfer
    framing_error  out  last came with another word than the run's last; sticky until start

    Throughput: a delta word in and a word of n_cu deltas out per cycle. Reset: nothing is taken.
    """
    n_cu, width = design.n_cu, design.fmt.width
    row_words = design.groups * design.max_size
    all_words = 2 * row_words

    cu_group = count(design.groups)
    place = count(row_words)  # of the word that is being collected, in its row
    half = flag()  # which of the two rows is written
    rows_there = count(2)
    room = flag()
    word_taken, position_taken, row_taken = flag(), flag(), flag()
    row_read = flag()

    collected = bits(n_cu * width)
    stored, write = flag(), flag()
    stored_addr, write_addr = count(all_words - 1), count(all_words - 1)
    memory = [bits(n_cu * width) for _ in range(all_words)]
    read_half = flag()
    read_addr = count(all_words - 1)

    words = delta_words(
        clk, rst, start, config, sink, room, cu_group, word_taken, position_taken, row_taken,
        collected, element, framing_error, design,
    )  # fmt: skip

    @always_comb
    def tell() -> None:
        room.next = rows_there != 2
        row_read.next = slot.valid and slot.row_last

    @always(clk.posedge)
    def keep_count() -> None:
        address = intbv(0, min=0, max=2 * all_words)
        address[:] = place
        if half:
            address[:] = address + row_words
        stored_addr.next = address
        stored.next = word_taken
        filled.next = row_taken
        if row_taken:
            place.next = 0
            half.next = not half
        elif word_taken:
            place.next = place + 1
        if row_taken and not row_read:
            rows_there.next = rows_there + 1
        elif row_read and not row_taken:
            rows_there.next = rows_there - 1
        if start:
            place.next = 0
            half.next = False
            rows_there.next = 0
        if rst:
            stored.next = False
            filled.next = False

    @always(clk.posedge)
    def turn() -> None:
        write.next = stored
        write_addr.next = stored_addr
        if row_read:
            read_half.next = not read_half
            opening.next = False
        if start:
            read_half.next = False
            opening.next = True

    @always_comb
    def choose() -> None:
        address = intbv(0, min=0, max=2 * all_words)
        address[:] = slot.delta_word
        if read_half:
            address[:] = address + row_words
        read_addr.next = address

    @always(clk.posedge)
    def access() -> None:
        if write:
            memory[write_addr].next = collected
        deltas.next = memory[read_addr]

    return words, tell, keep_count, turn, choose, access
