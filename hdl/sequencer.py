"""The sequencer: in every cycle, issue a slot or name the reason why not.

CNN-MERP section IV.D (strategy 3: the order of jumps) and VI.B (only valid maps are computed).
"""

from __future__ import annotations

from typing import Any

from myhdl import always, always_comb, intbv

from merp.hdl.accumulator_turn import accumulator_turn
from merp.hdl.bundles import BankRead, Floor, MapConfig, Slot, Verdict, bits, count, flag
from merp.hdl.entity import entity
from merp.hdl.gradient_bundles import GradientMapConfig
from merp.hdl.gradient_turn import gradient_turn
from merp.hdl.position_word import PositionWord
from merp.models.params.design import Design


@entity
def sequencer(
    clk: Any,
    rst: Any,
    start: Any,
    config: MapConfig,
    head: Any,
    head_valid: Any,
    head_take: Any,
    written_row: Any,
    written_column: Any,
    written_channel: Any,
    popped: Any,
    floor: Floor,
    read: BankRead,
    row_shift: Any,
    column_shift: Any,
    slot: Slot,
    verdict: Verdict,
    design: Design,
) -> Any:
    """Walk positions, input maps and groups; everything behind it is a pipeline that never stalls.

    For each pair of positions (or one, if p = 1): for input map i: for lane: for group g: a slot.
    A window starts with its slot of group 0, when its last element has been written and
    accumulator_turn allows it; the other slots of a window follow without a gap. With a
    GradientMapConfig (p = 1) each slot of a position has a sum of its own, and gradient_turn is
    the rule.

    head, head_valid, head_take  the next position (position_word)
    written_*     in   place of the next map word to be written; rows count over all images
    popped        in   the FIFO behind the sums gave a word away, or a word of deltas is there
    floor         out  what the oldest open position still needs, for the write permission
    read          out  read of the banks, one cycle after the issue
    row_shift, column_shift  out  for the window block, two cycles after the issue
    slot          out  two cycles after the issue
    verdict       out  of this cycle; no stall is named when no position is left

    Throughput: a slot per cycle. Reset: nothing to issue.
    """
    word = PositionWord(design)
    p = design.p
    last_lane = p - 1
    n_cu = design.n_cu
    groups_max = design.groups

    (need_column, need_column_top) = (word.need_column, word.need_column_top)
    (need_row, need_row_top) = (word.need_row, word.need_row_top)
    (first_row, first_row_top) = (word.first_row, word.first_row_top)
    (next_first_row, next_first_row_top) = (word.next_first_row, word.next_first_row_top)
    (first_column, first_column_top) = (word.first_column, word.first_column_top)
    (row_base_0, row_base_0_top) = (word.row_base_0, word.row_base_0_top)
    (row_base_1, row_base_1_top) = (word.row_base_1, word.row_base_1_top)
    (column_base_0, column_base_0_top) = (word.column_base_0, word.column_base_0_top)
    (column_base_1, column_base_1_top) = (word.column_base_1, word.column_base_1_top)
    (rows_on, rows_on_top) = (word.rows_on, word.rows_on_top)
    (columns_on, columns_on_top) = (word.columns_on, word.columns_on_top)
    (rows_next, rows_next_top) = (word.rows_next, word.rows_next_top)
    (columns_next, columns_next_top) = (word.columns_next, word.columns_next_top)
    (row_shift_low, row_shift_top) = (word.row_shift, word.row_shift_top)
    (column_shift_low, column_shift_top) = (word.column_shift, word.column_shift_top)
    alone = word.alone
    final = word.final

    busy = flag()  # positions are left
    channel = count(design.max_maps)
    lane = count(p)
    group = count(design.groups)
    kernel_base = count(design.kernel_words + design.groups)
    single = flag()  # the open position has no partner
    held = flag()  # lane 0 is an open position
    lanes = [bits(word.width) for _ in range(p)]

    current = bits(word.width)
    fire = flag()
    arrived = flag()  # the window's last element has been written
    midway = flag()  # the window's first slot has been issued
    first_channel = flag()
    last_channel = flag()
    last_group = flag()
    last_of_pair = flag()  # this window's lane is the last one of the pair

    slot_1 = Slot(design)
    row_shift_1 = bits(word.shift_width)
    column_shift_1 = bits(word.shift_width)

    @always_comb
    def select() -> None:
        if channel == 0 and group == 0:
            current.next = head
        else:
            current.next = lanes[lane]

    @always_comb
    def keep() -> None:
        if held:
            floor.row.next = lanes[0][first_row_top:first_row]
            floor.next_row.next = lanes[0][next_first_row_top:next_first_row]
            floor.column.next = lanes[0][first_column_top:first_column]
        else:
            floor.row.next = head[first_row_top:first_row]
            floor.next_row.next = head[next_first_row_top:next_first_row]
            floor.column.next = head[first_column_top:first_column]
        floor.valid.next = held or head_valid
        floor.open.next = not busy

    @always_comb
    def place() -> None:
        midway.next = group != 0
        first_channel.next = channel == 0
        last_channel.next = channel + 1 == config.inputs
        last_group.next = group + 1 == config.groups
        if channel == 0 and lane == 0 and group == 0:
            last_of_pair.next = last_lane == 0 or current[alone]
        else:
            last_of_pair.next = single or lane == last_lane

    @always_comb
    def arrive() -> None:
        arrived.next = written_row > current[need_row_top:need_row] or (
            written_row == current[need_row_top:need_row]
            and (
                written_column > current[need_column_top:need_column]
                or (
                    written_column == current[need_column_top:need_column]
                    and written_channel > channel
                )
            )
        )

    @always_comb
    def tell() -> None:
        verdict.issue.next = fire
        head_take.next = fire and group == 0 and channel == 0
        verdict.final_issue.next = (
            fire and last_group and last_channel and last_of_pair and current[final] == 1
        )
        if not fire:
            verdict.useful.next = 0
        elif last_group:
            verdict.useful.next = config.last_cus
        else:
            verdict.useful.next = n_cu

    @always(clk.posedge)
    def advance() -> None:
        if fire:
            if group == 0:
                if channel == 0:
                    lanes[lane].next = head
                    if lane == 0:
                        single.next = current[alone]
                        held.next = True
                if last_channel:
                    if last_of_pair:
                        held.next = False
            if not last_group:
                group.next = group + 1
            else:
                group.next = 0
                if not last_of_pair:
                    lane.next = lane + 1
                else:
                    lane.next = 0
                    if not last_channel:
                        channel.next = channel + 1
                        kernel_base.next = kernel_base + config.groups
                    else:
                        channel.next = 0
                        kernel_base.next = 0
                        if current[final]:
                            busy.next = False
        if start:
            busy.next = True
            held.next = False
            channel.next = 0
            lane.next = 0
            group.next = 0
            kernel_base.next = 0
        if rst:
            busy.next = False
            held.next = False

    @always(clk.posedge)
    def fetch() -> None:
        read.enable.next = False
        slot_1.valid.next = fire
        if fire:
            slot_1.kernel_addr.next = kernel_base + group
            accumulator = intbv(0, min=0, max=p * groups_max + groups_max)
            accumulator[:] = group
            if lane != 0:
                accumulator[:] = accumulator + groups_max
            slot_1.acc_addr.next = accumulator
            slot_1.group.next = group
            slot_1.first.next = channel == 0
            slot_1.last.next = last_channel
            if group == 0:
                read.enable.next = True
                read.rows_on.next = current[rows_on_top:rows_on]
                read.columns_on.next = current[columns_on_top:columns_on]
                read.rows_next.next = current[rows_next_top:rows_next]
                read.columns_next.next = current[columns_next_top:columns_next]
                read.addr_00.next = (
                    current[row_base_0_top:row_base_0]
                    + current[column_base_0_top:column_base_0]
                    + channel
                )
                read.addr_01.next = (
                    current[row_base_0_top:row_base_0]
                    + current[column_base_1_top:column_base_1]
                    + channel
                )
                read.addr_10.next = (
                    current[row_base_1_top:row_base_1]
                    + current[column_base_0_top:column_base_0]
                    + channel
                )
                read.addr_11.next = (
                    current[row_base_1_top:row_base_1]
                    + current[column_base_1_top:column_base_1]
                    + channel
                )
                row_shift_1.next = current[row_shift_top:row_shift_low]
                column_shift_1.next = current[column_shift_top:column_shift_low]
        if rst:
            slot_1.valid.next = False

    @always(clk.posedge)
    def hand_on() -> None:
        row_shift.next = row_shift_1
        column_shift.next = column_shift_1
        slot.valid.next = slot_1.valid
        if slot_1.valid:
            slot.kernel_addr.next = slot_1.kernel_addr
            slot.acc_addr.next = slot_1.acc_addr
            slot.group.next = slot_1.group
            slot.first.next = slot_1.first
            slot.last.next = slot_1.last
        if rst:
            slot.valid.next = False

    if isinstance(config, GradientMapConfig):
        turn = gradient_turn(
            clk, rst, start, config, busy, midway, last_group, first_channel, last_channel,
            arrived, head_valid, popped, fire, verdict, design,
        )  # fmt: skip
    else:
        turn = accumulator_turn(
            clk, rst, start, config, busy, lane, midway, first_channel, last_channel,
            arrived, head_valid, popped, fire, verdict, design,
        )  # fmt: skip
    return select, keep, place, arrive, tell, advance, fetch, hand_on, turn
