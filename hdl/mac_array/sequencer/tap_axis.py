"""The taps of a kernel along its rows or columns that a pixel uses, phase by phase."""

from __future__ import annotations

from typing import Any

from myhdl import always, always_comb, intbv

from merp.hdl.base.loop_index import loop_index
from merp.hdl.base.signals import count, flag
from merp.hdl.conversion.entity import Bit, entity
from merp.hdl.mac_array.sequencer.sequencer_ports import TapPlace, Taps


@entity
def tap_axis(clk: Bit, start: Bit, step: Bit, next_phase: Bit, taps: Taps, place: TapPlace) -> Any:
    """Go down from the largest tap to the smallest one, in steps of the stride.

    A pixel of DP uses every stride-th tap only; its phase, which is its place modulo the stride,
    selects the taps. From a phase to the next, all taps increase by one. A tap that would exceed
    the kernel becomes the smallest tap instead; then the first delta lies one further on. FP, and
    DP of a layer without a stride, have one phase and all taps.

    step        in   go to the next tap; the first follows the last
    next_phase  in   with the last step of a phase: go to the next phase; the first follows the last
    taps        in   the taps of each phase
    place       out  the current tap and phase

    Throughput: a tap per cycle. Reset: none, begin with start.
    """
    first, stride, unit, size = taps.first, taps.stride, taps.unit, taps.size
    tap, last_tap = place.tap, place.last_tap
    phase, last_phase, ahead = place.phase, place.last_phase, place.ahead
    width = len(size) + 1
    # first tap of the phase, and current tap
    largest, next_largest = count(size.max - 1), count(size.max - 1)
    moved = flag()

    @always_comb
    def judge() -> None:
        last_tap.next = tap < stride

    @always_comb
    def follow() -> None:
        behind = intbv(0)[width:]
        behind[:] = largest
        behind[:] = behind + unit
        next_largest.next = largest
        ahead.next = moved
        if next_phase:
            if last_phase:
                next_largest.next = first
                ahead.next = False
            elif behind == size:
                next_largest.next = behind - stride
                ahead.next = True
            else:
                next_largest.next = behind

    @always(clk.posedge)
    def go() -> None:
        largest.next = next_largest
        moved.next = ahead
        if step:
            if last_tap:
                tap.next = next_largest
            else:
                tap.next = tap - stride
        if start:
            largest.next = first
            moved.next = False
            tap.next = first

    loop = loop_index(
        clk, start, step=next_phase, size=taps.phases, index=phase, final=last_phase
    )  # fmt: skip
    return judge, follow, go, loop
