"""Reads of gradients of kernels that may lack taps: detection of the last read of a kernel."""

from __future__ import annotations

from typing import Any

from myhdl import always_comb

from merp.hdl.base.look_up import look_up
from merp.hdl.base.signals import count
from merp.hdl.conversion.entity import Bit, Word, entity
from merp.models.machines.cnn_merp.params.design import EngineDesign


def read_places(design: EngineDesign, size: int) -> list[tuple[int, ...]]:
    """Return the elements of a kernel of ``size`` x ``size`` in each read, up to the last read."""
    k, each = design.k, design.gradient_read
    taps = [row * k + column for row in range(size) for column in range(size)]
    return [
        tuple(tap - first for tap in taps if 0 <= tap - first < each)
        for first in range(0, taps[-1] + 1, each)
    ]


@entity
def kernel_reads(
    clk: Bit,
    part: Word,
    final_input: Bit,
    ends: Bit,
    design: EngineDesign,
    lacks: Bit = None,
    filling: Word = None,
    size: Word = None,
) -> Any:
    """Detect the end of a kernel.

    part         in   number of the current read in its kernel
    final_input  in   the kernel is the last one of its output map
    ends         out  no element of the kernel follows the read
    lacks        out  (with filling) the kernel ends earlier than others
    filling      in   last taps of the last input map, which have no elements; stable from start on
    size         in   rows and columns of a kernel; the taps behind them have no elements; stable
                      from start on

    Latency: combinational.
    """
    taps, each = design.taps, design.gradient_read
    last: Any = design.gradient_reads - 1
    tables = []
    if size is not None:
        last = count(design.gradient_reads - 1)
        lasts = [len(read_places(design, each)) - 1 for each in range(1, design.k + 1)]
        tables.append(look_up(clk, index=size, found=last, table=(0, *lasts)))
    if filling is None:

        @always_comb
        def end() -> None:
            ends.next = part == last

        return tables, end

    final = count(design.gradient_reads - 1)
    finals = tuple((taps - lacking - 1) // each for lacking in range(taps))
    tables.append(look_up(clk, index=filling, found=final, table=finals))

    @always_comb
    def end_either() -> None:
        lacks.next = False
        if filling != 0 and final_input:
            ends.next = part == final
            lacks.next = part == final
        else:
            ends.next = part == last

    return tables, end_either
