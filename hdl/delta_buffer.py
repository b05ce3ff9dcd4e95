"""Delta words of output positions, collected into words of one element per CU.

CNN-MERP section V.C: in the kernel update the second operand of the multipliers is the delta of
the CU's output map.
"""

from __future__ import annotations

from typing import Any

from myhdl import ConcatSignal, always, always_comb, block, intbv

from merp.hdl.bundles import Slot, Stream, bits, count, flag
from merp.hdl.entity import entity
from merp.hdl.gradient_bundles import DeltaElement, GradientMapConfig
from merp.hdl.raster import raster
from merp.models.params.design import Design
from merp.models.params.kernel_update_registers import revisit_cycles


@block
def _lane(clk: Any, mine: Any, data: Any, held: Any) -> Any:
    """Register of one CU's element."""

    @always(clk.posedge)
    def load() -> None:
        if mine:
            held.next = data

    return load


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

    Delta words come in the order image, row, column, map; that of map g*n_cu + j is element j of
    word g of its position.

    slot           in   which word is read; a slot with last reads it for the last time
    filled         out  pulse: one more word is there; a slot may come 2 cycles later
    deltas         out  the word of the slot one cycle earlier, CU 0 in the lowest bits
    opening        out  the slot belongs to the run's first position
    element        out  each delta word, one cycle after its transfer
    framing_error  out  last came with another word than the run's last; sticky until start

    A word is taken whenever there is room for it, but for config.delta_rest cycles after each
    position, so that the same map's delta comes again after revisit_cycles at the earliest.
    Throughput: a delta word in and a word of n_cu deltas out per cycle. Reset: nothing is taken.
    """
    n_cu, width, groups_max = design.n_cu, design.fmt.width, design.groups
    all_words = 2 * groups_max

    active = flag()  # words of the run are still to come
    cu = count(n_cu)
    group = count(groups_max)
    index = count(groups_max * n_cu)
    half = flag()  # which of the two positions is written
    first = flag()  # it is the run's first
    last_column, last_row, last_image = flag(), flag(), flag()
    room = count(all_words)
    rest = count(revisit_cycles(design))
    word_end = flag()
    position_end = flag()
    position_done = flag()
    accept = flag()
    last_read = flag()
    last_word = flag()

    enable = bits(n_cu)
    collected = flag()  # the word's last element is on its way into its lane
    collected_addr = count(all_words - 1)
    write = flag()
    write_addr = count(all_words - 1)
    lanes = [bits(width) for _ in range(n_cu)]
    joined = ConcatSignal(*reversed(lanes)) if n_cu > 1 else lanes[0]
    memory = [bits(n_cu * width) for _ in range(all_words)]
    read_half = flag()
    read_addr = count(all_words - 1)

    @always_comb
    def place() -> None:
        position_end.next = group + 1 == config.groups and cu + 1 == config.last_cus
        word_end.next = cu + 1 == n_cu or (group + 1 == config.groups and cu + 1 == config.last_cus)

    @always_comb
    def permit() -> None:
        sink.ready.next = active and rest == 0 and (room != 0 or not word_end)
        accept.next = sink.valid and active and rest == 0 and (room != 0 or not word_end)
        last_read.next = slot.valid and slot.last

    @always_comb
    def recognise() -> None:
        position_done.next = accept and position_end
        last_word.next = position_end and last_column and last_row and last_image

    @always(clk.posedge)
    def collect() -> None:
        address = intbv(0, min=0, max=2 * all_words)
        filled.next = False
        collected.next = False
        enable.next = 0
        element.valid.next = False
        if rest != 0:
            rest.next = rest - 1
        if accept:
            element.valid.next = True
            element.data.next = sink.data
            element.index.next = index
            element.opening.next = first
            for j in range(n_cu):
                if cu == j:
                    enable.next[j] = True
            if sink.last != last_word:
                framing_error.next = True
            if word_end:
                filled.next = True
                collected.next = True
                address[:] = group
                if half:
                    address[:] = address + groups_max
                collected_addr.next = address
            if not word_end:
                cu.next = cu + 1
                index.next = index + 1
            elif not position_end:
                cu.next = 0
                index.next = index + 1
                group.next = group + 1
            else:
                cu.next = 0
                index.next = 0
                group.next = 0
                half.next = not half
                first.next = False
                rest.next = config.delta_rest
                if last_word:
                    active.next = False
        if accept and word_end:
            if not last_read:
                room.next = room - 1
        elif last_read:
            room.next = room + 1
        if start:
            active.next = True
            cu.next = 0
            group.next = 0
            index.next = 0
            half.next = False
            first.next = True
            room.next = config.groups + config.groups
            rest.next = 0
            framing_error.next = False
        if rst:
            active.next = False
            element.valid.next = False
            filled.next = False
            framing_error.next = False

    lane_registers = [_lane(clk, enable(j), element.data, lanes[j]) for j in range(n_cu)]

    @always(clk.posedge)
    def turn() -> None:
        write.next = collected
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
            memory[write_addr].next = joined
        deltas.next = memory[read_addr]

    positions = raster(
        clk, start, position_done, config.out_columns, config.out_rows, config.images,
        last_column, last_row, last_image,
    )  # fmt: skip
    return (
        place, permit, recognise, positions, collect, lane_registers, turn, choose, access,
    )  # fmt: skip
