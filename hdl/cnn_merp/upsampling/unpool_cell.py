"""One memory of pooled elements, and the contribution of its element to the output element."""

from __future__ import annotations

from typing import Any

from myhdl import always

from merp.hdl.base.signals import bits, flag
from merp.hdl.cnn_merp.upsampling.unpool_ports import CellRead, CellWrite, tap_width
from merp.hdl.conversion.entity import Bit, Word, entity
from merp.models.machines.cnn_merp.params.unpool_design import UnpoolDesign


@entity
def unpool_cell(
    clk: Bit,
    write: CellWrite,
    read: CellRead,
    average: Bit,
    term: Word,
    design: UnpoolDesign,
) -> Any:
    """Keep pooled elements, and give one per cycle, or -0 if it does not contribute.

    write    in   a pooled element
    read     in   the element to read, and the place of the output element in its window
    average  in   it contributes to its whole window, else at its position only
    term     out  the contribution, two cycles later

    -0 plus x is x, also if x is -0 (as a sum below the smallest normal number may be). Throughput:
    a write and a read per cycle. Reset: none.
    """
    width, code_bits = design.fmt.width, design.code_bits
    top = width + code_bits
    nothing = design.fmt.sign_bit
    memory = [bits(top) for _ in range(design.words)]
    stored = bits(top)
    covered = flag()
    tap = bits(tap_width(design))

    @always(clk.posedge)
    def access() -> None:
        if write.enable:
            memory[write.address].next = write.data
        stored.next = memory[read.address]
        covered.next = read.row_on and read.column_on
        tap.next = read.row_tap + read.column_tap

    @always(clk.posedge)
    def contribute() -> None:
        if covered and (average or stored[top:width] == tap):
            term.next = stored[width:]
        else:
            term.next = nothing

    return access, contribute
