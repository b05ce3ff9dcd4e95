"""Counters of a pass: cycles by cause, and the end of the pass.

They observe only the verdicts of the sequencer and the handshake of the output.
"""

from __future__ import annotations

from typing import Any

from myhdl import always, always_comb, intbv

from merp.hdl.base.interface import GivenPorts, given_all
from merp.hdl.base.signals import count, flag
from merp.hdl.base.valid_delay import valid_delay
from merp.hdl.conversion.entity import Bit, entity
from merp.hdl.mac_array.ports.slots import ArrayVerdict
from merp.hdl.mac_array.ports.status import ArrayStatus
from merp.models.machines.mac_array.params.design import ArrayDesign

SETTLED = 7
"""Cycles from the end of a pass to the cycle in which every counter has its last value.

The longest path belongs to the last sum if pooling drops its row. It takes six cycles from the read
of the sum to the counted flags of `scaling`, and one more into the counter of clipped words.
"""


class PassCountersPorts(GivenPorts):
    """Inputs of the counters of a pass, and its status."""

    MEMBERS = given_all(
        verdict=ArrayVerdict,
        sent=Bit,
        computes=Bit,
        complete=Bit,
        drained=Bit,
        error=Bit,
        status=ArrayStatus,
    )


@entity
def pass_counters(
    clk: Bit, rst: Bit, start: Bit, ports: PassCountersPorts, design: ArrayDesign
) -> Any:
    """Count the cycles of a pass by cause, and detect its end.

    verdict   in   verdict of the sequencer: a slot, or the cause of a stall
    sent      in   the last word of all results was sent, in this cycle or before
    computes  in   the pass has slots
    complete  in   all inputs of its slots were taken, in the cycle before or earlier
    drained   in   pulse: the last sum of a tile or sweep is read
    error     in   last of a stream arrived with a wrong beat
    status    out  all fields except clipped words and the words of the ports

    total counts from the cycle after start to the cycle of the last event. This event is the last
    output word. If pooling drops the last rows, it may be the read of the last sum. If no window
    has the last atom, it may be the cycle after the arrival of this atom. Each cycle is an issue, a
    fill (before the first issue), a drain (after the last issue), or a stall. done is set once all
    counters have their last value. Reset, and start: no pass, counters at zero.
    """
    verdict, sent, computes, status = ports.verdict, ports.sent, ports.computes, ports.status
    complete, drained, error = ports.complete, ports.drained, ports.error
    counting = flag()
    issued = flag()  # the first slot was issued
    # the last slot was in the cycle before; any time before
    final_before, none_left = flag(), flag()
    exhausted = flag()  # either of the two
    read = flag()  # the last sum was read
    all_read, ends, still = flag(), flag(), flag()
    # Useful MACs are multiplied and summed after the slot; the pass lasts longer than that.
    slot, slot_1, slot_2, slot_3 = (flag() for _ in range(4))
    pixels, maps = count(design.pixels), count(design.pixels)
    lanes, lanes_1, lanes_2 = (count(design.pof) for _ in range(3))
    taps, taps_2 = count(design.pixels), count(design.pixels)
    lower, useful = count(design.macs), count(design.macs)

    @always_comb
    def finish() -> None:
        exhausted.next = final_before or none_left
        all_read.next = read or ((final_before or none_left) and drained)

    @always_comb
    def end() -> None:
        # Rows of maps that no window uses may arrive after the last output word.
        ends.next = counting and sent and ((complete and all_read) or not computes)

    @always(clk.posedge)
    def cycles() -> None:
        # The verdict of the last slot is late in its cycle, so it is registered directly.
        final_before.next = verdict.final_issue
        none_left.next = exhausted
        if counting:
            status.total.next = status.total + 1
            if verdict.issue:
                issued.next = True
                status.issue.next = status.issue + 1
            elif exhausted:
                status.drain.next = status.drain + 1
            elif not issued:
                status.fill.next = status.fill + 1
            elif verdict.stall_kernel:
                status.stall_kernel.next = status.stall_kernel + 1
            elif verdict.stall_input:
                status.stall_input.next = status.stall_input + 1
            elif verdict.stall_output:
                status.stall_output.next = status.stall_output + 1
            if exhausted and drained:
                read.next = True
            if ends:
                counting.next = False
        if start or rst:
            counting.next = start and not rst
            issued.next = False
            final_before.next = False
            none_left.next = False
            read.next = False
            status.total.next = 0
            status.issue.next = 0
            status.fill.next = 0
            status.drain.next = 0
            status.stall_kernel.next = 0
            status.stall_input.next = 0
            status.stall_output.next = 0

    # In two halves of the bits of the lanes, by shifts and sums: a product would take a DSP block.
    half, lane_bits = len(lanes_1) // 2, len(lanes_1)

    @always(clk.posedge)
    def multiply() -> None:
        low = intbv(0)[len(useful) + lane_bits :]
        high = intbv(0)[len(useful) + lane_bits :]
        step = intbv(0)[len(useful) + lane_bits :]
        slot.next = verdict.issue
        pixels.next = verdict.rows * verdict.columns
        maps.next = verdict.maps
        lanes.next = verdict.lanes
        slot_1.next = slot
        taps.next = pixels * maps
        lanes_1.next = lanes
        slot_2.next = slot_1
        taps_2.next = taps
        lanes_2.next = lanes_1
        low[:] = 0
        step[:] = taps
        for place in range(half):
            if lanes_1[place]:
                low[:] = low + step
            step[:] = step << 1
        lower.next = low[len(useful) :]
        slot_3.next = slot_2
        high[:] = lower
        step[:] = taps_2
        step[:] = step << half
        for place in range(half, lane_bits):
            if lanes_2[place]:
                high[:] = high + step
            step[:] = step << 1
        useful.next = high[len(useful) :]
        if slot_3:
            status.useful.next = status.useful + useful
        if start or rst:
            slot.next = False
            slot_1.next = False
            slot_2.next = False
            slot_3.next = False
            status.useful.next = 0

    @always(clk.posedge)
    def tell() -> None:
        status.framing_error.next = error
        if still:
            status.busy.next = False
            status.done.next = True
        if start or rst:
            status.framing_error.next = False
            status.busy.next = start and not rst
            status.done.next = False

    settle = valid_delay(clk, rst, d=ends, q=still, cycles=SETTLED)
    return finish, end, cycles, multiply, tell, settle
