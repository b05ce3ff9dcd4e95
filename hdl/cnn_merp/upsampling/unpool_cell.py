"""One memory of pooled elements, and what its element contributes to the one that goes out."""

from __future__ import annotations

from typing import Any

from myhdl import always

from merp.hdl.base.signals import bits, flag
from merp.hdl.cnn_merp.upsampling.unpool_ports import tap_width
from merp.hdl.conversion.entity import Bit, Word, entity
from merp.models.machines.cnn_merp.params.unpool_design import UnpoolDesign


@entity
def unpool_cell(
    clk: Bit,
    write_enable: Bit,
    write_address: Word,
    write_data: Word,
    address: Word,
    row_on: Bit,
    column_on: Bit,
    row_tap: Word,
    column_tap: Word,
    average: Bit,
    term: Word,
    design: UnpoolDesign,
) -> Any:
    """Keep pooled elements, and give one per cycle, or -0 where it does not contribute.

    write_*  in   code of the position above the delta
    address  in   of the element to read
    row_on, column_on    in  its window holds the element that goes out,
    row_tap, column_tap  in  at this place
    average  in   it contributes to all of its window, else at its position only
    term     out  two cycles later

    -0 plus x is x, also where x is -0 (as a sum below the smallest normal number may be).
    Throughput: a write and a read per cycle. Reset: none.
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
        if write_enable:
            memory[write_address].next = write_data
        stored.next = memory[address]
        covered.next = row_on and column_on
        tap.next = row_tap + column_tap

    @always(clk.posedge)
    def contribute() -> None:
        if covered and (average or stored[top:width] == tap):
            term.next = stored[width:]
        else:
            term.next = nothing

    return access, contribute
