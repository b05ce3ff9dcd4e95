"""Deltas of two output positions, for a kernel update that takes one position after the other.

CNN-MERP section V.C: in the kernel update the second operand of the multipliers is the delta of
the CU's output map.
"""

from __future__ import annotations

from typing import Any

from myhdl import always, always_comb, intbv

from merp.hdl.bundles import Slot, Stream, bits, count, flag
from merp.hdl.delta_words import delta_words
from merp.hdl.entity import entity
from merp.hdl.gradient_bundles import DeltaElement, GradientMapConfig
from merp.models.params.design import Design


@entity
def delta_buffer(
    clk: Any,
    rst: Any,
    start: Any,
    config: GradientMapConfig,
    sink: Stream,
    slot: Slot,
    filled: Any,
    deltas: Any,
    opening: Any,
    element: DeltaElement,
    framing_error: Any,
    design: Design,
) -> Any:
    """Keep the deltas of two positions: one is used while the other one arrives.

    sink           in   delta words, see delta_words
    slot           in   which word is read; a slot with last reads it for the last time
    filled         out  pulse: one more word is there; a slot may come 2 cycles later
    deltas         out  the word of the slot one cycle earlier, CU 0 in the lowest bits
    opening        out  the slot belongs to the run's first position
    element        out  each delta word, one cycle after its transfer
    framing_error  out  last came with another word than the run's last; sticky until start

    Throughput: a delta word in and a word of n_cu deltas out per cycle. Reset: nothing is taken.
    """
    n_cu, width, groups_max = design.n_cu, design.fmt.width, design.groups
    all_words = 2 * groups_max

    cu_group = count(groups_max)
    half = flag()  # which of the two positions is written
    words_left = count(all_words)
    room = flag()
    word_taken, position_taken, row_taken = flag(), flag(), flag()
    last_read = flag()

    collected = bits(n_cu * width)
    collected_addr = count(all_words - 1)
    write = flag()
    write_addr = count(all_words - 1)
    memory = [bits(n_cu * width) for _ in range(all_words)]
    read_half = flag()
    read_addr = count(all_words - 1)

    words = delta_words(
        clk, rst, start, config, sink, room, cu_group, word_taken, position_taken, row_taken,
        collected, element, framing_error, design,
    )  # fmt: skip

    @always_comb
    def tell() -> None:
        room.next = words_left != 0
        last_read.next = slot.valid and slot.last

    @always(clk.posedge)
    def keep_count() -> None:
        address = intbv(0, min=0, max=2 * all_words)
        address[:] = cu_group
        if half:
            address[:] = address + groups_max
        collected_addr.next = address
        filled.next = word_taken
        if position_taken:
            half.next = not half
        if word_taken:
            if not last_read:
                words_left.next = words_left - 1
        elif last_read:
            words_left.next = words_left + 1
        if start:
            half.next = False
            words_left.next = config.groups + config.groups
        if rst:
            filled.next = False

    @always(clk.posedge)
    def turn() -> None:
        write.next = filled
        write_addr.next = collected_addr
        if last_read and slot.group == config.groups - 1:
            read_half.next = not read_half
            opening.next = False
        if start:
            read_half.next = False
            opening.next = True

    @always_comb
    def choose() -> None:
        address = intbv(0, min=0, max=2 * all_words)
        address[:] = slot.group
        if read_half:
            address[:] = address + groups_max
        read_addr.next = address

    @always(clk.posedge)
    def access() -> None:
        if write:
            memory[write_addr].next = collected
        deltas.next = memory[read_addr]

    return words, tell, keep_count, turn, choose, access
