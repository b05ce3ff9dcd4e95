"""The kernel words of every slot: their addresses, and whether they have arrived."""

from __future__ import annotations

from typing import Any

from myhdl import always, always_comb

from merp.hdl.base.signals import count, flag
from merp.hdl.conversion.entity import Bit, Word, entity
from merp.hdl.mac_array.ports.arrivals import KernelArrivals
from merp.hdl.mac_array.ports.registers import WalkConfig
from merp.hdl.mac_array.ports.slots import KernelRowRead
from merp.hdl.mac_array.sequencer.sequencer_ports import SlotEnds
from merp.models.machines.mac_array.params.design import ArrayDesign


@entity
def kernel_walk(
    clk: Bit,
    start: Bit,
    config: WalkConfig,
    fire: Bit,
    element: Word,
    ends: SlotEnds,
    kernels: KernelArrivals,
    there: Bit,
    read: KernelRowRead,
    design: ArrayDesign,
) -> Any:
    """Follow the slots through the kernel buffer.

    FP reads rows in sequence. DP reads columns, each from its last tap to its first. Each column
    tile, and each of its phases, reads the words of a group of lanes again. Each row phase and band
    reads all groups again.

    fire     in   the current slot is issued
    element  in   the element of the kernel that is its tap in DP
    ends     in   loops that end with this slot
    kernels  in   words that have arrived; for columns, runs of beats (parameter_intake)
    there    out  the words of the slot have arrived
    read     out  the read, a cycle after the slot was issued; rows is 0 in every other cycle

    Throughput: a slot per cycle. Reset: none, begin with start.
    """
    pof = design.pof
    last_tap, last_map, last_tile, last_group = ends.tap, ends.map, ends.tile, ends.group
    progress, loaded = kernels.progress, kernels.loaded
    top = 2 * design.kernel_words
    group_base, map_base = count(top), count(top)
    tap = count(design.max_kernel**2)
    lane = count(pof - 1)  # the map modulo lanes
    group_need, need = count(top), count(top)
    ends_run = flag()  # the last slot of a run of beats of a column, or of a row
    step_group, step_map, leave = flag(), flag(), flag()

    @always_comb
    def tell() -> None:
        there.next = loaded or (need < progress and not config.kernel_first)
        ends_run.next = not config.transposed or (last_tap and (last_map or lane == pof - 1))
        leave.next = last_tap and last_map
        step_map.next = last_tap and (not config.transposed or lane == pof - 1)
        step_group.next = last_tap and last_map and last_tile

    @always(clk.posedge)
    def walk() -> None:
        if fire:
            if last_tap:
                tap.next = 0
            else:
                tap.next = tap + 1
            if leave or (last_tap and lane == pof - 1):
                lane.next = 0
            elif last_tap:
                lane.next = lane + 1
            if step_group:
                if last_group:
                    group_base.next = 0
                    map_base.next = 0
                    group_need.next = 0
                    need.next = 0
                else:
                    group_base.next = group_base + config.group_step
                    map_base.next = group_base + config.group_step
                    group_need.next = need + 1
                    need.next = need + 1
            elif leave:
                map_base.next = group_base
                need.next = group_need
            else:
                if step_map:
                    map_base.next = map_base + config.map_step
                if ends_run:
                    need.next = need + 1
        if start:
            tap.next = 0
            lane.next = 0
            group_base.next = 0
            map_base.next = 0
            group_need.next = 0
            need.next = 0

    @always(clk.posedge)
    def hand_on() -> None:
        read.rows.next = 0
        if fire:
            read.turn.next = lane
            if config.transposed:
                read.base.next = map_base + element
                if last_group:
                    read.rows.next = config.last_lanes
                else:
                    read.rows.next = pof
            else:
                read.base.next = map_base + tap

    return tell, walk, hand_on
