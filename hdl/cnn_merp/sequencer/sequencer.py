"""Sequencer: in every cycle, issue a slot or report the cause of a stall.

Source: CNN-MERP, sections IV.D (strategy 3: the order of jumps) and VI.B (only valid maps are
computed).
"""

from __future__ import annotations

from copy import copy
from typing import Any

from myhdl import always, always_comb, block, intbv

from merp.hdl.base.lane import split_index
from merp.hdl.base.signals import bits, count, flag
from merp.hdl.cnn_merp.ports.maps import GradientMapConfig, MapConfig
from merp.hdl.cnn_merp.ports.slots import OriginSlot, Slot
from merp.hdl.cnn_merp.ports.windows import (
    Issued,
    KeptRows,
    OriginChoice,
    PositionHead,
    SlotWalk,
    SumsRoom,
    WindowFetch,
    WindowSlots,
)
from merp.hdl.cnn_merp.sequencer.accumulator_issue import accumulator_issue
from merp.hdl.cnn_merp.sequencer.gradient_issue import gradient_issue
from merp.hdl.cnn_merp.sequencer.origin_issue import origin_issue
from merp.hdl.cnn_merp.sequencer.position_layout import PositionWord
from merp.hdl.cnn_merp.sequencer.window_order import NextWindow, window_order
from merp.hdl.cnn_merp.sequencer.window_read import window_read
from merp.hdl.conversion.entity import Bit, Word, entity
from merp.models.machines.cnn_merp.params.design import EngineDesign


@block
def _slots(
    clk: Bit,
    rst: Bit,
    fire: Bit,
    window: NextWindow,
    group: Word,
    slot_1: Slot,
    slot: Slot,
    design: EngineDesign,
) -> Any:
    """Delay a slot: ``slot_1`` follows the issue by one cycle, ``slot`` by two."""
    p, groups_max = design.p, design.groups

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

    return issue, hand_on


@entity
def sequencer(
    clk: Bit,
    rst: Bit,
    start: Bit,
    config: MapConfig,
    head: PositionHead,
    kept: KeptRows,
    room: SumsRoom,
    fetch: WindowFetch,
    issued: Issued,
    design: EngineDesign,
) -> Any:
    """Issue the slots of every window; the pipeline behind never stalls.

    For each pair of positions (or one, if p = 1), input map i, lane and group g, there is a slot. A
    window starts with its slot of group 0, once its last element has been written and
    accumulator_issue permits it. The other slots of a window follow without a gap. With a
    GradientMapConfig (p = 1), each slot of a position has a sum of its own, and gradient_issue is
    the rule.

    head    in   the next position; out: it is taken
    kept    in   place of the next map word to be written; out: data that the oldest open position
                 still uses, for the write permission
    room    in   room for the sums, and arrival of their start values
    fetch   out  read of the banks, one cycle after the issue; shifts, two cycles after it
    issued  out  the slot, two cycles after the issue; the verdict of this cycle, without a stall if
                 no position is left

    Throughput: a slot per cycle. Reset: nothing to issue.
    """
    slot, verdict, floor = issued.slot, issued.verdict, kept.floor
    credit, partial = room.credit, room.partial
    gradients = isinstance(config, GradientMapConfig)
    word = PositionWord(design)
    n_cu = design.n_cu

    final = word.final

    walk, slots = SlotWalk(gradients), WindowSlots()
    busy = walk.busy
    window = NextWindow(design)
    position = bits(word.width)
    group = count(design.groups)
    fire = flag()
    midway = walk.midway  # the first slot of the window has been issued
    last_group = flag()  # stored next to group, because many signals depend on it
    if gradients:
        walk.ends_window = last_group
    opens, leaves = slots.opens, slots.leaves

    slot_1 = Slot(design)
    slots_out = _slots(
        clk, rst, fire=fire, window=window, group=group, slot_1=slot_1, slot=slot, design=design
    )
    offered = window  # the window as the rule sees it

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

    order = window_order(
        clk,
        rst,
        start,
        config=config,
        head=head,
        kept=kept,
        slots=slots,
        window=window,
        position=position,
        design=design,
    )
    origins: tuple[Any, ...] = ()
    if partial is not None:
        if not isinstance(slot, OriginSlot):
            raise ValueError("partial sums need a slot of type OriginSlot")
        choice, origin_1 = OriginChoice(design), count(design.origins - 1)
        offered = copy(window)
        offered.arrived = choice.arrived

        @always(clk.posedge)
        def follow() -> None:
            if fire:
                origin_1.next = choice.origin
            if slot_1.valid:
                slot.origin.next = origin_1

        judge = origin_issue(
            clk,
            rst,
            start,
            config=config,
            partial=partial,
            window=window,
            slots=slots,
            cu_group=group,
            choice=choice,
            design=design,
        )
        origins = follow, judge
    if gradients:
        rule = gradient_issue(
            clk,
            rst,
            start,
            config=config,
            walk=walk,
            window=window,
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
            walk=walk,
            window=offered,
            credit=credit,
            fire=fire,
            verdict=verdict,
            design=design,
        )
    pixel_word: Any = None
    lane: Any = ()
    if design.map_port > 1:
        pixel_word = count(design.map_words(design.max_maps) - 1)
        lane = split_index(clk, index=window.channel, word=pixel_word, lane=fetch.read.lane)
    reader = window_read(
        clk,
        enable=opens,
        position=position,
        channel=window.channel if design.map_port == 1 else pixel_word,
        fetch=fetch,
        design=design,
    )
    return place, tell, advance, slots_out, order, origins, rule, reader, lane
