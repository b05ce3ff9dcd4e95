"""Order of the windows: the next one is known a cycle before it may start.

Source: CNN-MERP, section IV.D (strategy 3: the order of jumps).
"""

from __future__ import annotations

from typing import Any

from myhdl import always, always_comb, concat

from merp.hdl.base.signals import bits, count, flag
from merp.hdl.cnn_merp.ports.maps import MapConfig
from merp.hdl.cnn_merp.ports.windows import KeptRows, PositionHead, WindowSlots
from merp.hdl.cnn_merp.sequencer.position_layout import PositionWord
from merp.hdl.conversion.entity import Bit, Word, entity
from merp.models.machines.cnn_merp.params.design import EngineDesign


class NextWindow:
    """The next window, in registers, so that a decision about it needs no comparison."""

    def __init__(self, design: EngineDesign) -> None:
        self.valid = flag()  # a window exists
        self.arrived = flag()  # the window is valid, and its last element has been written
        self.channel = count(design.max_maps)  # input map
        self.lane = count(design.p)  # number of its position among the p interleaved ones
        self.kernel_base = count(design.kernel_words + design.groups)  # its first kernel word
        self.first_map = flag()  # it belongs to the first input map
        self.last_map = flag()  # it belongs to the last input map
        self.ends_pair = flag()  # no lane follows


@entity
def window_order(
    clk: Bit,
    rst: Bit,
    start: Bit,
    config: MapConfig,
    head: PositionHead,
    kept: KeptRows,
    slots: WindowSlots,
    window: NextWindow,
    position: Word,
    design: EngineDesign,
) -> Any:
    """Walk positions and input maps, a window ahead of the slots.

    For each pair of positions (or one, if p = 1), input map i and lane, there is a window. The
    positions of a pair are taken with its first windows.

    head      in   the next position; out: it is taken
    kept      in   place of the next map word to be written; out: data of the oldest position with
                   an unread window (all but open)
    slots     in   the first slot of the window is issued; its last slot is issued
    window    out  the next window
    position  out  its position (position_layout)

    Latency: a window is valid one cycle after its position, and arrived is high two cycles after
    the transfer of its last word. Throughput: a window per cycle. Reset: no window. A window of the
    pair that a reset breaks off may show before the next start, but no slot is made of it.
    """
    head_valid, head_take, head_word = head.valid, head.take, head.word
    floor, opens, leaves = kept.floor, slots.opens, slots.leaves
    written_row, written_column = kept.written.row, kept.written.column
    written_channel = kept.written.channel
    word = PositionWord(design)
    last_lane = design.p - 1
    (need, need_top) = (word.need_column, word.need_row_top)
    (row_limit, row_limit_top) = (word.row_limit, word.row_limit_top)
    (next_row_limit, next_row_limit_top) = (word.next_row_limit, word.next_row_limit_top)
    (first_column, first_column_top) = (word.first_column, word.first_column_top)
    alone = word.alone

    # The window behind the next one.
    opening = flag(1)  # it belongs to input map 0, and takes a position
    channel = count(design.max_maps)
    lane = count(design.p)
    kernel_base = count(design.kernel_words + design.groups)
    last_channel = flag()
    last_of_pair = flag()
    available = flag()
    following = bits(word.width)  # its position

    single = flag()  # the open position has no partner
    held = flag()  # lane 0 has an unread window
    lanes = [bits(word.width) for _ in range(design.p)]
    ready = flag()  # the next window leaves, or there is none

    @always_comb
    def select() -> None:
        position.next = lanes[window.lane]
        if opening:
            following.next = head_word
        else:
            following.next = lanes[lane]

    @always_comb
    def place() -> None:
        last_channel.next = channel + 1 == config.inputs
        if opening and lane == 0:
            last_of_pair.next = last_lane == 0 or head_word[alone]
        else:
            last_of_pair.next = single or lane == last_lane

    @always_comb
    def take() -> None:
        available.next = head_valid or not opening
        ready.next = leaves or not window.valid
        head_take.next = (leaves or not window.valid) and opening and head_valid

    @always_comb
    def keep() -> None:
        if held:
            floor.row_limit.next = lanes[0][row_limit_top:row_limit]
            floor.next_row_limit.next = lanes[0][next_row_limit_top:next_row_limit]
            floor.column.next = lanes[0][first_column_top:first_column]
        else:
            floor.row_limit.next = head_word[row_limit_top:row_limit]
            floor.next_row_limit.next = head_word[next_row_limit_top:next_row_limit]
            floor.column.next = head_word[first_column_top:first_column]
        floor.valid.next = held or head_valid

    @always(clk.posedge)
    def advance() -> None:
        if opens and window.last_map and window.ends_pair:
            held.next = False
        if ready:
            window.valid.next = available
            window.arrived.next = available and (
                concat(written_row, written_column, written_channel)
                > concat(following[need_top:need], channel)
            )
            window.channel.next = channel
            window.lane.next = lane
            window.kernel_base.next = kernel_base
            window.first_map.next = opening
            window.last_map.next = last_channel
            window.ends_pair.next = last_of_pair
            if available:
                if opening:
                    lanes[lane].next = head_word
                    if lane == 0:
                        single.next = head_word[alone]
                        held.next = True
                if not last_of_pair:
                    lane.next = lane + 1
                else:
                    lane.next = 0
                    if not last_channel:
                        opening.next = False
                        channel.next = channel + 1
                        kernel_base.next = kernel_base + config.groups
                    else:
                        opening.next = True
                        channel.next = 0
                        kernel_base.next = 0
        elif not window.arrived:
            window.arrived.next = concat(written_row, written_column, written_channel) > concat(
                position[need_top:need], window.channel
            )
        if start:
            opening.next = True
            channel.next = 0
            lane.next = 0
            kernel_base.next = 0
        if start or rst:
            window.valid.next = False
            window.arrived.next = False
            held.next = False

    return select, place, take, keep, advance
