"""Issue rule of the sequencer if sums accumulate over input maps."""

from __future__ import annotations

from typing import Any

from myhdl import always, always_comb

from merp.hdl.base.signals import count, flag
from merp.hdl.cnn_merp.ports.maps import MapConfig
from merp.hdl.cnn_merp.ports.slots import Verdict
from merp.hdl.cnn_merp.ports.windows import SlotWalk
from merp.hdl.cnn_merp.sequencer.window_order import NextWindow
from merp.hdl.conversion.entity import Bit, entity
from merp.hdl.streams.credit_counter import credit_check, credit_counter
from merp.models.machines.cnn_merp.params.design import EngineDesign


@entity
def accumulator_issue(
    clk: Bit,
    rst: Bit,
    start: Bit,
    config: MapConfig,
    walk: SlotWalk,
    window: NextWindow,
    credit: Bit,
    fire: Bit,
    verdict: Verdict,
    design: EngineDesign,
) -> Any:
    """Decide whether to issue a slot in this cycle, or report the cause of a stall.

    walk     in   positions are left; the slot is not the first one of its window
    credit   in   pulse: one of the fifo_words places for sums is free again
    fire     out  the slot is issued
    verdict  out  the cause of a stall; idle: no position is left and every place is free

    A position reserves G places with its last window. An accumulator is used once per input map. A
    window waits until the previous window of its lane is accumulate_latency cycles ago.

    Latency: combinational. Reset: every place is free.
    """
    busy, midway = walk.busy, walk.midway
    p, distance, places = design.p, design.accumulate_latency, design.fifo_words
    # cycles since the last window of the lane, saturated
    ages = [count(distance) for _ in range(p)]
    credits = count(places)
    enough = flag()  # enough credits for a position
    spends = flag()

    @always_comb
    def decide() -> None:
        fire.next = False
        verdict.stall_input.next = False
        verdict.stall_output.next = False
        verdict.stall_hazard.next = False
        if busy:
            if midway:
                fire.next = True
            elif not window.arrived:
                verdict.stall_input.next = True
            elif window.last_map and not enough:
                verdict.stall_output.next = True
            elif not window.first_map and ages[window.lane] < distance:
                verdict.stall_hazard.next = True
            else:
                fire.next = True

    @always_comb
    def tell() -> None:
        spends.next = fire and window.last_map and not midway
        verdict.idle.next = not busy and credits == places

    @always(clk.posedge)
    def grow() -> None:
        for j in range(p):
            if ages[j] != distance:
                ages[j].next = ages[j] + 1
        if fire and not midway:
            ages[window.lane].next = 1

    counter = credit_counter(
        clk,
        rst,
        start,
        given=credit,
        spent=spends,
        amount=config.groups,
        credits=credits,
        first=places,
    )
    check = credit_check(
        clk,
        start,
        given=credit,
        spent=spends,
        amount=config.groups,
        credits=credits,
        enough=enough,
        first=places,
    )
    return decide, tell, grow, counter, check
