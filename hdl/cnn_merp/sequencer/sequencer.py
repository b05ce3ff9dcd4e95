"""The sequencer: in every cycle, issue a slot or name the reason why not.

CNN-MERP section IV.D (strategy 3: the order of jumps) and VI.B (only valid maps are computed).
"""

from __future__ import annotations

from copy import copy
from typing import Any

from myhdl import always, always_comb, intbv

from merp.hdl.base.lane import split_index
from merp.hdl.base.signals import bits, count, flag
from merp.hdl.cnn_merp.ports.maps import BankRead, Floor, MapConfig
from merp.hdl.cnn_merp.ports.passes import PartialSums
from merp.hdl.cnn_merp.ports.slots import OriginSlot, Slot, Verdict
from merp.hdl.cnn_merp.sequencer.accumulator_issue import accumulator_issue
from merp.hdl.cnn_merp.sequencer.gradient_issue import gradient_issue
from merp.hdl.cnn_merp.sequencer.origin_issue import origin_issue
from merp.hdl.cnn_merp.sequencer.position_layout import PositionWord
from merp.hdl.cnn_merp.sequencer.window_order import NextWindow, window_order
from merp.hdl.cnn_merp.sequencer.window_read import window_read
from merp.hdl.conversion.entity import Bit, Word, entity
from merp.models.machines.cnn_merp.params.design import Design


@entity
def sequencer(
    clk: Bit,
    rst: Bit,
    start: Bit,
    config: MapConfig,
    head: Word,
    head_valid: Bit,
    head_take: Bit,
    written_row: Word,
    written_column: Word,
    written_channel: Word,
    credit: Bit,
    floor: Floor,
    read: BankRead,
    row_shift: Word,
    column_shift: Word,
    slot: Slot,
    verdict: Verdict,
    design: Design,
    gradients: bool,
    partial: PartialSums | None = None,
) -> Any:
    """Issue the slots of every window; everything behind is a pipeline that never stalls.

    For each pair of positions (or one, if p = 1): for input map i: for lane: for group g: a slot.
    A window starts with its slot of group 0, when its last element has been written and
    accumulator_issue allows it; the other slots of a window follow without a gap. With gradients
    (p = 1, a GradientMapConfig) each slot of a position has a sum of its own, and gradient_issue
    is the rule.

    head, head_valid, head_take  in, in, out  the next position (position_layout)
    written_*     in   place of the next map word to be written; rows count over all images
    credit        in   the FIFO behind the sums gave a word away, or a word of deltas is there
    floor         out  what the oldest open position still needs, for the write permission
    read          out  read of the banks, one cycle after the issue
    row_shift, column_shift  out  for the window block, two cycles after the issue
    slot          out  two cycles after the issue
    verdict       out  of this cycle; no stall is named when no position is left
    partial       in   (with an OriginSlot) partial sums that a position can start at

    Throughput: a slot per cycle. Reset: nothing to issue.
    """
    word = PositionWord(design)
    p = design.p
    n_cu = design.n_cu
    groups_max = design.groups

    final = word.final

    busy = flag()  # positions are left
    window = NextWindow(design)
    position = bits(word.width)
    group = count(design.groups)
    fire = flag()
    midway = flag()  # the window's first slot has been issued
    last_group = flag()  # kept beside group, as much hangs on it
    opens, leaves = flag(), flag()

    slot_1 = Slot(design)
    offered = window  # as the rule sees it

    @always_comb
    def place() -> None:
        midway.next = group != 0

    @always_comb
    def tell() -> None:
        opens.next = fire and not midway
        leaves.next = fire and last_group
        floor.open.next = not busy
        verdict.issue.next = fire
        verdict.final_issue.next = (
            fire and last_group and window.last_map and window.ends_pair and position[final] == 1
        )
        verdict.useful.next = n_cu
        if last_group:
            verdict.useful.next = config.last_cus

    @always(clk.posedge)
    def advance() -> None:
        if fire:
            if not last_group:
                group.next = group + 1
                last_group.next = group + 2 == config.groups
            else:
                group.next = 0
                last_group.next = config.groups == 1
        if verdict.final_issue:
            busy.next = False
        if start:
            busy.next = True
            group.next = 0
            last_group.next = config.groups == 1
        if rst:
            busy.next = False

    @always(clk.posedge)
    def issue() -> None:
        slot_1.valid.next = fire
        if fire:
            slot_1.kernel_addr.next = window.kernel_base + group
            accumulator = intbv(0, min=0, max=p * groups_max + groups_max)
            accumulator[:] = group
            if window.lane != 0:
                accumulator[:] = accumulator + groups_max
            slot_1.acc_addr.next = accumulator
            slot_1.group.next = group
            slot_1.first.next = window.first_map
            slot_1.last.next = window.last_map
        if rst:
            slot_1.valid.next = False

    @always(clk.posedge)
    def hand_on() -> None:
        slot.valid.next = slot_1.valid
        if slot_1.valid:
            slot.kernel_addr.next = slot_1.kernel_addr
            slot.acc_addr.next = slot_1.acc_addr
            slot.group.next = slot_1.group
            slot.first.next = slot_1.first
            slot.last.next = slot_1.last
        if rst:
            slot.valid.next = False

    order = window_order(
        clk,
        rst,
        start,
        config=config,
        head=head,
        head_valid=head_valid,
        head_take=head_take,
        written_row=written_row,
        written_column=written_column,
        written_channel=written_channel,
        opens=opens,
        leaves=leaves,
        window=window,
        position=position,
        floor=floor,
        design=design,
    )
    origins: tuple[Any, ...] = ()
    if partial is not None:
        if not isinstance(slot, OriginSlot):
            raise ValueError("partial sums go with an OriginSlot")
        offered = copy(window)
        offered.arrived = flag()
        origin, origin_1 = count(design.origins - 1), count(design.origins - 1)

        @always(clk.posedge)
        def follow() -> None:
            if fire:
                origin_1.next = origin
            if slot_1.valid:
                slot.origin.next = origin_1

        judge = origin_issue(
            clk,
            rst,
            start,
            config=config,
            partial=partial,
            window=window,
            opens=opens,
            leaves=leaves,
            cu_group=group,
            arrived=offered.arrived,
            origin=origin,
            design=design,
        )
        origins = follow, judge
    if gradients:
        rule = gradient_issue(
            clk,
            rst,
            start,
            config=config,
            busy=busy,
            window=window,
            midway=midway,
            ends_window=last_group,
            filled=credit,
            fire=fire,
            verdict=verdict,
            design=design,
        )
    else:
        rule = accumulator_issue(
            clk,
            rst,
            start,
            config=config,
            busy=busy,
            window=offered,
            midway=midway,
            credit=credit,
            fire=fire,
            verdict=verdict,
            design=design,
        )
    pixel_word: Any = None
    lane: Any = ()
    if design.map_port > 1:
        pixel_word = count(design.map_words(design.max_maps) - 1)
        lane = split_index(clk, index=window.channel, word=pixel_word, lane=read.lane)
    reader = window_read(
        clk,
        fetch=opens,
        position=position,
        channel=window.channel if design.map_port == 1 else pixel_word,
        read=read,
        row_shift=row_shift,
        column_shift=column_shift,
        design=design,
    )
    return place, tell, advance, issue, hand_on, order, origins, rule, reader, lane
