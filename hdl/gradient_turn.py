"""The sequencer's rule where gradients accumulate over positions."""

from __future__ import annotations

from typing import Any

from myhdl import always, always_comb

from merp.hdl.bundles import Verdict, count, flag
from merp.hdl.entity import entity
from merp.hdl.gradient_bundles import GradientMapConfig
from merp.models.params.design import Design
from merp.models.params.kernel_update_registers import revisit_cycles


@entity
def gradient_turn(
    clk: Any,
    start: Any,
    config: GradientMapConfig,
    busy: Any,
    midway: Any,
    first_map: Any,
    arrived: Any,
    head_valid: Any,
    credited: Any,
    position_end: Any,
    fire: Any,
    verdict: Verdict,
    design: Design,
) -> Any:
    """Decide whether a slot is issued in this cycle, or name the reason why not.

    busy          in   positions are left
    midway        in   the slot at hand is not the first one of its window
    first_map     in   its window is the first one of its position
    arrived       in   the window's last element has been written
    head_valid    in   there is a next position
    credited      in   a position's delta words are there
    position_end  in   the slot at hand, if issued, is the position's last
    fire          out  the slot is issued
    verdict       out  the cause if not

    A gradient is added to once per position, every n*G slots. Where that is sooner than the adder
    and the memory allow, config.rest idle cycles after each position make up for it, however the
    slots of the position itself were delayed.

    Latency: combinational. Reset: none, start begins anew.
    """
    rest = count(revisit_cycles(design))
    resting = flag()

    @always_comb
    def decide() -> None:
        fire.next = False
        verdict.stall_input.next = False
        verdict.stall_output.next = False
        verdict.stall_hazard.next = False
        if busy:
            if midway:
                fire.next = True
            elif not arrived or (first_map and not (head_valid and credited)):
                verdict.stall_input.next = True
            elif first_map and resting:
                verdict.stall_hazard.next = True
            else:
                fire.next = True

    @always(clk.posedge)
    def pause() -> None:
        if fire and position_end:
            rest.next = config.rest
            resting.next = config.rest != 0
        elif resting:
            rest.next = rest - 1
            resting.next = rest != 1
        if start:
            resting.next = False

    return decide, pause
