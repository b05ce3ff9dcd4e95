"""``kernel_intake`` for kernels that may be smaller than k x k; missing taps become +0."""

from __future__ import annotations

from typing import Any

from myhdl import ConcatSignal, always, always_comb, block

from merp.hdl.base.signals import Stream, bits, count, flag
from merp.hdl.cnn_merp.kernel_loader.intake_end import intake_end
from merp.hdl.cnn_merp.kernel_loader.intake_ports import IntakeState, KernelPlace, SmallerKernels
from merp.hdl.cnn_merp.ports.kernels import KernelWrite
from merp.hdl.conversion.entity import Bit, Word
from merp.models.machines.cnn_merp.params.design import EngineDesign


@block
def _lane(
    clk: Bit, take: Bit, first: Bit, row: Word, column: Word, data: Word, lane: Word, r: int, c: int
) -> Any:
    """Register tap (r, c): +0 from the first element of a kernel on, then its element."""

    @always(clk.posedge)
    def keep() -> None:
        if take:
            if row == r and column == c:
                lane.next = data
            elif first:
                lane.next = 0

    return keep


@block
def widened_intake(
    clk: Bit,
    rst: Bit,
    start: Bit,
    smaller: SmallerKernels,
    sink: Stream,
    kernel: KernelWrite,
    place: KernelPlace,
    state: IntakeState,
    design: EngineDesign,
    rotated: bool,
) -> Any:
    """``kernel_intake`` with ``size`` x ``size`` elements per kernel, one per cycle.

    The elements are in the corner of tap (0, 0), also when they are rotated.
    """
    size, taken = smaller.size, state.taken
    k, width = design.k, design.fmt.width
    row, column = count(k), count(k)  # place of the current element
    tap_row, tap_column = count(k), count(k)  # its tap
    take, first = flag(), flag()
    last_row, last_column = flag(), flag()
    lanes = [bits(width) for _ in range(k * k)]
    joined = ConcatSignal(*reversed(lanes)) if k > 1 else lanes[0]

    @always_comb
    def recognise() -> None:
        take.next = sink.valid and sink.ready
        first.next = row == 0 and column == 0
        last_row.next = row + 1 == size
        last_column.next = column + 1 == size

    @always_comb
    def complete() -> None:
        taken.next = take and last_row and last_column

    if rotated:

        @always_comb
        def turn() -> None:
            tap_row.next = 0
            tap_column.next = 0
            if row < size:
                tap_row.next = size - row - 1
            if column < size:
                tap_column.next = size - column - 1

        turned = turn
    else:

        @always_comb
        def keep() -> None:
            tap_row.next = row
            tap_column.next = column

        turned = keep

    @always_comb
    def join() -> None:
        kernel.data.next = joined

    @always(clk.posedge)
    def walk() -> None:
        if rst or start or taken:
            row.next = 0
            column.next = 0
        elif take:
            if not last_column:
                column.next = column + 1
            else:
                column.next = 0
                row.next = row + 1

    end = intake_end(
        clk, rst, start, sink=sink, take=take, kernel=kernel, place=place, state=state,
        n_cu=design.n_cu,
    )  # fmt: skip
    writers = [
        _lane(
            clk, take=take, first=first, row=tap_row, column=tap_column, data=sink.data,
            lane=lanes[r * k + c], r=r, c=c,
        )
        for r in range(k)
        for c in range(k)
    ]  # fmt: skip
    return recognise, complete, turned, join, walk, end, writers
