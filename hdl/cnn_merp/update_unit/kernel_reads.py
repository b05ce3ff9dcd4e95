"""The reads of gradients of kernels that may lack taps: which of them is a kernel's last."""

from __future__ import annotations

from typing import Any

from myhdl import always_comb

from merp.hdl.base.look_up import look_up
from merp.hdl.base.signals import count
from merp.hdl.conversion.entity import Bit, Word, entity
from merp.models.machines.cnn_merp.params.design import EngineDesign


def read_places(design: EngineDesign, size: int) -> list[tuple[int, ...]]:
    """Where the elements of a kernel of ``size`` x ``size`` lie in each read, up to the last."""
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
    """Tell where a kernel ends.

    part         in   the read at hand, of its kernel's
    final_input  in   the kernel is its output map's last one
    ends         out  no element of the kernel lies behind the read
    lacks        out  (with filling) it ends earlier than other kernels do

    filling      in   taps that the last input map lacks,
                      which have no elements: the last ones. Stable from start on
    size         in   rows and columns of a kernel; the taps
                      behind them have no elements. Stable from start on

    Combinational.
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
