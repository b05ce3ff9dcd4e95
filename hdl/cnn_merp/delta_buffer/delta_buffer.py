"""Deltas of two output positions, for a kernel update that processes position after position.

Source: CNN-MERP, section V.C: in the kernel update, the second operand of the multipliers is the
delta of the output map of the CU.
"""

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
from merp.hdl.cnn_merp.ports.slots import Slot
from merp.hdl.conversion.entity import Bit, entity
from merp.models.machines.cnn_merp.params.design import EngineDesign


@entity
def delta_buffer(
    clk: Bit,
    rst: Bit,
    start: Bit,
    config: GradientMapConfig,
    sink: Stream,
    slot: Slot,
    operand: SlotDeltas,
    arriving: Arriving,
    design: EngineDesign,
) -> Any:
    """Keep the deltas of two positions: one is used while the other one arrives.

    sink      in   delta words, see delta_words
    slot      in   the word to read; a slot with last reads it for the last time
    operand   out  the word of the slot one cycle earlier; opening: it belongs to the first position
                   of the run
    arriving  out  each delta word, a cycle after its transfer. filled: one more word is complete,
                   and a slot may follow 2 cycles later. Framing errors

    Throughput: a delta word in and a word of n_cu deltas out per cycle. Reset: nothing is taken.
    """
    groups_max = design.groups

    words_left = count(2 * groups_max)  # free places for words
    room = flag()
    collected = Collected(design)
    word_taken = collected.word_taken
    word_read, position_read = flag(), flag()

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
        write=HalfWrite(word_taken, collected.cu_group, collected.position_taken, collected.word),
        read=HalfRead(slot.group, position_read),
        operand=operand,
        half_words=groups_max,
    )

    @always_comb
    def tell() -> None:
        room.next = words_left != 0
        word_read.next = slot.valid and slot.last
        position_read.next = slot.valid and slot.last and slot.group == config.groups - 1

    @always(clk.posedge)
    def keep_count() -> None:
        arriving.filled.next = word_taken
        if word_taken:
            if not word_read:
                words_left.next = words_left - 1
        elif word_read:
            words_left.next = words_left + 1
        if start:
            words_left.next = config.groups + config.groups
        if rst:
            arriving.filled.next = False

    return words, delta_ram, tell, keep_count
