"""Deltas of two output positions, for a kernel update that takes one position after the other.

CNN-MERP section V.C: in the kernel update the second operand of the multipliers is the delta of
the CU's output map.
"""

from __future__ import annotations

from typing import Any

from myhdl import always, always_comb

from merp.hdl.base.signals import Stream, bits, count, flag
from merp.hdl.cnn_merp.delta_buffer.delta_memory import delta_memory
from merp.hdl.cnn_merp.delta_buffer.delta_words import delta_words
from merp.hdl.cnn_merp.ports.gradients import DeltaElement
from merp.hdl.cnn_merp.ports.maps import GradientMapConfig
from merp.hdl.cnn_merp.ports.slots import Slot
from merp.hdl.conversion.entity import Bit, Word, entity
from merp.models.machines.cnn_merp.params.design import Design


@entity
def delta_buffer(
    clk: Bit,
    rst: Bit,
    start: Bit,
    config: GradientMapConfig,
    sink: Stream,
    slot: Slot,
    filled: Bit,
    deltas: Word,
    opening: Bit,
    element: DeltaElement,
    framing_error: Bit,
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
    groups_max = design.groups

    cu_group = count(groups_max)
    words_left = count(2 * groups_max)  # places for words
    room = flag()
    word_taken, position_taken, row_taken = flag(), flag(), flag()
    word_read, position_read = flag(), flag()
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
    )
    memory = delta_memory(
        clk,
        rst,
        start,
        taken=word_taken,
        place=cu_group,
        half_taken=position_taken,
        word=word,
        read_place=slot.group,
        half_read=position_read,
        deltas=deltas,
        opening=opening,
        half_words=groups_max,
    )

    @always_comb
    def tell() -> None:
        room.next = words_left != 0
        word_read.next = slot.valid and slot.last
        position_read.next = slot.valid and slot.last and slot.group == config.groups - 1

    @always(clk.posedge)
    def keep_count() -> None:
        filled.next = word_taken
        if word_taken:
            if not word_read:
                words_left.next = words_left - 1
        elif word_read:
            words_left.next = words_left + 1
        if start:
            words_left.next = config.groups + config.groups
        if rst:
            filled.next = False

    return words, memory, tell, keep_count
