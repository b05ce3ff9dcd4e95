"""Walk of a window over a streamed map: which windows count, and which taps lie inside the map."""

from __future__ import annotations

from typing import Any

from myhdl import always, always_comb, block, intbv

from merp.hdl.base.registers import RegisterBundle
from merp.hdl.base.signals import bits, flag
from merp.hdl.base.tap_mask import tap_mask
from merp.hdl.conversion.entity import Bit, Word
from merp.models.papers.mazouz.params.element import ElementDesign
from merp.models.papers.mazouz.params.element_registers import ELEMENT


class ElementConfig(RegisterBundle):
    """Run-time registers of an element, from the table ``ELEMENT``."""

    def __init__(self, design: ElementDesign) -> None:
        super().__init__(ELEMENT, design)


@block
def window_walk(
    clk: Bit,
    start: Bit,
    advance: Bit,
    config: ElementConfig,
    counts: Bit,
    final: Bit,
    rows: Word,
    columns: Word,
) -> Any:
    """Follow the window that the current beat completes.

    start          in   the next beat is the first one; registers are stable from here on
    advance        in   the beat is taken, and the next one follows
    counts         out  the window gives an output
    final          out  the window is the last one
    rows, columns  out  a bit for each row and column of taps: it lies inside the map

    Reset: none, begin with start.
    """
    before = bits(len(config.lead))  # beats before the first window
    columns_left = bits(len(config.grid_columns))  # windows of this line, this one included
    rows_left = bits(len(config.out_rows))
    steps, line_ends, begins = flag(), flag(), flag()
    reach = config.grid_columns.max + 1

    @always_comb
    def tell() -> None:
        least = intbv(0, min=0, max=reach)
        least[:] = config.idle
        least[:] = least + 1
        counts.next = before == 0 and columns_left >= least
        final.next = before == 0 and rows_left == 1 and columns_left == least

    @always_comb
    def move() -> None:
        steps.next = advance and before == 0
        line_ends.next = advance and before == 0 and columns_left == 1
        begins.next = start or (advance and before == 0 and columns_left == 1)

    @always(clk.posedge)
    def walk() -> None:
        if advance and before != 0:
            before.next = before - 1
        if line_ends:
            columns_left.next = config.grid_columns
            rows_left.next = rows_left - 1
        elif steps:
            columns_left.next = columns_left - 1
        if start:
            before.next = config.lead
            columns_left.next = config.grid_columns
            rows_left.next = config.out_rows

    across = tap_mask(
        clk, begin=begins, step=steps, first=config.first_columns, beyond=config.columns_beyond,
        mask=columns,
    )  # fmt: skip
    down = tap_mask(
        clk, begin=start, step=line_ends, first=config.first_rows, beyond=config.rows_beyond,
        mask=rows,
    )  # fmt: skip
    return tell, move, walk, across, down
