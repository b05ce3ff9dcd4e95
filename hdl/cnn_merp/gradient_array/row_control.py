"""Timing of the computational units of the row-wise kernel update."""

from __future__ import annotations

from typing import Any

from myhdl import always, always_comb, block

from merp.hdl.base.delay import delay
from merp.hdl.base.signals import count, flag
from merp.hdl.base.valid_delay import valid_delay
from merp.hdl.cnn_merp.gradient_array.row_ports import RowControl
from merp.hdl.cnn_merp.ports.gradients import GradientRead
from merp.hdl.cnn_merp.ports.slots import RowSlot
from merp.hdl.conversion.entity import Bit, Word, entity
from merp.models.base.fused import NORMALISE
from merp.models.machines.cnn_merp.params.design import EngineDesign
from merp.models.machines.cnn_merp.params.row import (
    DIFFERENCE,
    LAUNCH,
    PRODUCT,
    SCALE,
    SUMMED,
    steps,
)


@block
def _in_banks(
    clk: Bit, begin: Bit, first: Word, ended: Bit, place: Word, bank: Word, design: EngineDesign
) -> Any:
    """Compute the address of the next words of a kernel, whose steps alternate among the banks."""
    last_bank, kernel_words = design.gradient_banks - 1, design.kernel_words

    @always(clk.posedge)
    def turn() -> None:
        if begin:
            place.next = first
            bank.next = 0
        elif not ended:
            if bank == last_bank:
                place.next = place + kernel_words
                bank.next = 0
            else:
                bank.next = bank + 1

    return turn


SCALES_FIRST = SUMMED - (PRODUCT - 1)
"""Cycles by which scales are taken before sums, because those of the next sweep replace them."""


@entity
def row_control(
    clk: Bit,
    rst: Bit,
    slot: RowSlot,
    opening: Bit,
    read: GradientRead,
    column: Word,
    control: RowControl,
    design: EngineDesign,
) -> Any:
    """Follow each sweep from its slots to its gradients.

    slot, opening  in   slots of a sweep; kernel_addr and opening of the last slot count
    read           in   while enable is high, the gradient memories are read at its addr
    column         out  read address of the row memory; its words belong to the mantissa pass in the
                        next cycle
    control        out  control of all CUs

    The mantissa pass of a sweep begins LAUNCH cycles after its last slot. Reset: no sweep is known.
    """
    last_step, kernel_words = steps(design) - 1, design.kernel_words
    to_difference = SCALES_FIRST + DIFFERENCE
    to_operand = to_difference + NORMALISE  # where the sum of the row meets its gradient
    to_write = to_operand + design.add_latency

    last = flag()
    launch, launch_opening = flag(), flag()
    launch_last, launch_addr = count(design.max_size - 1), count(kernel_words - 1)
    running, ending, pass_opening = flag(), flag(), flag()
    pass_last, pass_addr = count(design.max_size - 1), count(kernel_words - 1)
    taken_opening, taken_addr = flag(), count(kernel_words - 1)
    taking, taking_opening, taking_fresh = flag(), flag(), flag()
    step, addr = count(last_step), count(kernel_words * steps(design) - 1)
    fresh = flag()
    reset_before = flag()
    slot_addr = count(design.gradient_words - 1)

    @always_comb
    def look() -> None:
        last.next = slot.valid and slot.last
        ending.next = running and column == pass_last
        control.scale_step.next = step

    @always(clk.posedge)
    def sweep() -> None:
        launch.next = last
        if last:
            launch_last.next = slot.column
            launch_addr.next = slot.kernel_addr
            launch_opening.next = opening
        if launch:
            running.next = True
            column.next = 0
            pass_last.next = launch_last
            pass_addr.next = launch_addr
            pass_opening.next = launch_opening
        elif ending:
            running.next = False
        elif running:
            column.next = column + 1
        if rst:
            launch.next = False
            running.next = False

    @always(clk.posedge)
    def take() -> None:
        if control.keep_scales:
            taking.next = True
            step.next = 0
            addr.next = taken_addr
            taking_opening.next = taken_opening
            taking_fresh.next = fresh
            fresh.next = False
        elif step == last_step:
            taking.next = False
        else:
            step.next = step + 1
            addr.next = addr + kernel_words
        if rst:
            taking.next = False
            step.next = last_step
            fresh.next = True

    @always(clk.posedge)
    def begin_anew() -> None:
        # A second cycle for the product that was being aligned.
        reset_before.next = rst
        control.clear.next = rst or reset_before

    @always_comb
    def choose() -> None:
        if read.enable:
            control.read_addr.next = read.addr
        else:
            control.read_addr.next = slot_addr

    placed = addr
    banked: Any = ()
    if design.gradient_banks > 1:
        placed, bank = count(design.gradient_words - 1), count(design.gradient_banks - 1)
        ended = flag()

        @always_comb
        def end() -> None:
            ended.next = step == last_step

        banked = (
            end,
            _in_banks(
                clk,
                begin=control.keep_scales,
                first=taken_addr,
                ended=ended,
                place=placed,
                bank=bank,
                design=design,
            ),
            delay(clk, d=bank, q=control.bank, cycles=to_operand - 1),
            delay(clk, d=bank, q=control.write_bank, cycles=to_write),
        )

    waits = [
        delay(clk, d=slot.first, q=control.first, cycles=1 + SCALE),
        valid_delay(clk, rst, d=last, q=control.keep_largest, cycles=LAUNCH + SCALE),
        valid_delay(clk, rst, d=running, q=control.active, cycles=PRODUCT - 1),
        valid_delay(clk, rst, d=ending, q=control.keep_scales, cycles=PRODUCT - 1),
        valid_delay(clk, rst, d=ending, q=control.keep_sums, cycles=SUMMED),
        delay(clk, d=pass_addr, q=taken_addr, cycles=PRODUCT - 1),
        delay(clk, d=pass_opening, q=taken_opening, cycles=PRODUCT - 1),
        delay(clk, d=step, q=control.sum_step, cycles=SCALES_FIRST),
        delay(clk, d=step, q=control.previous_step, cycles=to_difference - 1),
        delay(clk, d=taking_fresh, q=control.fresh, cycles=to_difference - 1),
        valid_delay(clk, rst, d=taking, q=control.replace, cycles=to_difference - 1),
        delay(clk, d=placed, q=slot_addr, cycles=to_operand - 2),
        delay(clk, d=taking_opening, q=control.from_zero, cycles=to_operand - 1),
        delay(clk, d=placed, q=control.write_addr, cycles=to_write),
        valid_delay(clk, rst, d=taking, q=control.write, cycles=to_write),
    ]
    return look, sweep, take, begin_anew, choose, banked, waits
