"""Issue rule of the sequencer if gradients accumulate over positions."""

from __future__ import annotations

from typing import Any

from myhdl import always, always_comb

from merp.hdl.base.signals import count, flag
from merp.hdl.cnn_merp.ports.maps import GradientMapConfig
from merp.hdl.cnn_merp.ports.slots import Verdict
from merp.hdl.cnn_merp.ports.windows import SlotWalk
from merp.hdl.cnn_merp.sequencer.window_order import NextWindow
from merp.hdl.conversion.entity import Bit, entity
from merp.hdl.streams.credit_counter import credit_check, credit_counter
from merp.models.machines.cnn_merp.params.design import EngineDesign
from merp.models.machines.cnn_merp.params.kernel_update_registers import revisit_cycles


@entity
def gradient_issue(
    clk: Bit,
    rst: Bit,
    start: Bit,
    config: GradientMapConfig,
    walk: SlotWalk,
    window: NextWindow,
    filled: Bit,
    fire: Bit,
    verdict: Verdict,
    design: EngineDesign,
) -> Any:
    """Decide whether to issue a slot in this cycle, or report the cause of a stall.

    walk     in   positions are left; the current slot is not the first one of its window; it is the
                  last one
    filled   in   pulse: one more word of n_cu deltas has arrived
    fire     out  the slot is issued
    verdict  out  the cause of a stall; idle: no position is left and every delta was taken

    A position takes G words of deltas with its first window.

    A gradient is used once per position, every n*G slots. If this is too soon for the adder and the
    memory, config.rest idle cycles follow each position. They suffice for any delay of the slots
    within the position.

    Latency: combinational. Reset: no deltas; start begins again.
    """
    busy, midway, ends_window = walk.busy, walk.midway, walk.ends_window
    rest = count(revisit_cycles(design))
    resting = flag()
    credits = count(2 * design.groups)  # words of deltas that no position has taken
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
            elif not window.arrived or (window.first_map and not enough):
                verdict.stall_input.next = True
            elif window.first_map and resting:
                verdict.stall_hazard.next = True
            else:
                fire.next = True

    @always_comb
    def tell() -> None:
        spends.next = fire and window.first_map and not midway
        verdict.idle.next = not busy and credits == 0

    @always(clk.posedge)
    def pause() -> None:
        if fire and ends_window and window.last_map:
            rest.next = config.rest
            resting.next = config.rest != 0
        elif resting:
            rest.next = rest - 1
            resting.next = rest != 1
        if start:
            resting.next = False

    counter = credit_counter(
        clk, rst, start, given=filled, spent=spends, amount=config.groups, credits=credits, first=0
    )
    check = credit_check(
        clk,
        start,
        given=filled,
        spent=spends,
        amount=config.groups,
        credits=credits,
        enough=enough,
        first=0,
    )
    return decide, tell, pause, counter, check
