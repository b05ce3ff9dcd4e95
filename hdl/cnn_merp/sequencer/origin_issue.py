"""Partial sums as start values of a position: their arrival and their places."""

from __future__ import annotations

from typing import Any

from myhdl import always, always_comb

from merp.hdl.base.signals import count, flag
from merp.hdl.cnn_merp.ports.maps import MapConfig
from merp.hdl.cnn_merp.ports.passes import PartialSums
from merp.hdl.cnn_merp.ports.windows import OriginChoice, WindowSlots
from merp.hdl.cnn_merp.sequencer.window_order import NextWindow
from merp.hdl.conversion.entity import Bit, Word, entity
from merp.hdl.streams.credit_counter import credit_check, credit_counter
from merp.models.machines.cnn_merp.params.design import EngineDesign


@entity
def origin_issue(
    clk: Bit,
    rst: Bit,
    start: Bit,
    config: MapConfig,
    partial: PartialSums,
    window: NextWindow,
    slots: WindowSlots,
    cu_group: Word,
    choice: OriginChoice,
    design: EngineDesign,
) -> Any:
    """Hold a position back until its partial sums have arrived, and compute their places.

    partial   in   sums start at partial sums; pulse: one more word of n_cu sums has arrived
    window    in   the next window
    slots     in   its first slot is issued; its last slot is issued
    cu_group  in   group of the current slot
    choice    out  the start values have arrived; the start word of the slot

    A position takes G words with its first window. Places are assigned in the order of positions;
    each position has as many places as the largest number of groups. There are places for 2p
    positions, which are reused cyclically. Biases have the places of the first position.

    Latency: combinational. Reset: no partial sum; start begins again.
    """
    opens, leaves = slots.opens, slots.leaves
    arrived, origin = choice.arrived, choice.origin
    groups_max = design.groups
    highest = design.origins - groups_max
    base = count(design.origins - 1)  # place of the first word of the position
    credits = count(design.origins)  # words that no position has taken
    enough = flag()  # enough credits for a position
    spends = flag()

    @always_comb
    def judge() -> None:
        arrived.next = window.arrived and (enough or not partial.wanted or not window.first_map)
        spends.next = opens and window.first_map and partial.wanted
        origin.next = base + cu_group

    @always(clk.posedge)
    def walk() -> None:
        if leaves and window.first_map and partial.wanted:
            if base == highest:
                base.next = 0
            else:
                base.next = base + groups_max
        if start:
            base.next = 0

    counter = credit_counter(
        clk,
        rst,
        start,
        given=partial.filled,
        spent=spends,
        amount=config.groups,
        credits=credits,
        first=0,
    )
    check = credit_check(
        clk,
        start,
        given=partial.filled,
        spent=spends,
        amount=config.groups,
        credits=credits,
        enough=enough,
        first=0,
    )
    return judge, walk, counter, check
