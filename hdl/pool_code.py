"""Position of an element in each of the pooling windows that it lies in."""

from __future__ import annotations

from typing import Any

from myhdl import ConcatSignal, always, always_comb, block, intbv

from merp.hdl.beats import Step, code_bits
from merp.hdl.bundles import OutputConfig, bits, count
from merp.hdl.entity import entity
from merp.models.params.design import Design


@block
def _sum(row: Any, column: Any, code: Any) -> Any:
    """The part of a position that a code holds; where no window is open it means nothing."""
    width, size = len(row), len(code)

    @always_comb
    def add() -> None:
        total = intbv(0)[width:]
        total[:] = row + column
        code.next = total[size:]

    return add


@entity
def pool_code(
    clk: Any, start: Any, config: OutputConfig, step: Step, codes: Any, design: Design
) -> Any:
    """Follow the output positions and give row * window + column in the window of each memory.

    step   in   what drain issues in this cycle
    codes  out  a code per pooling memory, memory 0 in the lowest bits, in the cycle of
                PoolUpdate.fresh

    Slots of rows and columns take turns as in pool_axis. The code of a memory that has no open
    window is arbitrary.
    Latency: two cycles. Throughput: a beat per cycle. Reset: none, begin with start.
    """
    overlap, window = design.pool_overlap, design.pool_window
    size = code_bits(window)
    # A slot counts on until its next turn, overlap * stride positions after the last one.
    furthest = overlap * design.max_stride - 1
    width = max(size, (furthest * (window + 1)).bit_length())
    row = [bits(width) for _ in range(overlap)]  # times window
    column = [bits(width) for _ in range(overlap)]
    rows_left, columns_left = count(design.max_stride), count(design.max_stride)
    row_turn, column_turn = count(overlap - 1), count(overlap - 1)
    second = 1 % overlap
    places = [bits(size) for _ in range(overlap**2)]
    joined = ConcatSignal(*reversed(places)) if overlap > 1 else places[0]
    early = bits(overlap**2 * size)

    @always(clk.posedge)
    def walk_columns() -> None:
        if start or (step.issue and step.ends_position):
            if start or step.last_column:
                columns_left.next = config.stride
                column_turn.next = second
                for i in range(overlap):
                    column[i].next = 0
            else:
                for j in range(overlap):
                    if columns_left == 1 and column_turn == j:
                        column[j].next = 0
                    else:
                        column[j].next = column[j] + 1
                if columns_left != 1:
                    columns_left.next = columns_left - 1
                else:
                    columns_left.next = config.stride
                    if column_turn == overlap - 1:
                        column_turn.next = 0
                    else:
                        column_turn.next = column_turn + 1

    @always(clk.posedge)
    def walk_rows() -> None:
        if start or (step.issue and step.ends_position and step.last_column):
            if start or step.last_row:
                rows_left.next = config.stride
                row_turn.next = second
                for i in range(overlap):
                    row[i].next = 0
            else:
                for j in range(overlap):
                    if rows_left == 1 and row_turn == j:
                        row[j].next = 0
                    else:
                        row[j].next = row[j] + config.window
                if rows_left != 1:
                    rows_left.next = rows_left - 1
                else:
                    rows_left.next = config.stride
                    if row_turn == overlap - 1:
                        row_turn.next = 0
                    else:
                        row_turn.next = row_turn + 1

    sums = [
        _sum(row[index // overlap], column[index % overlap], places[index])
        for index in range(overlap**2)
    ]

    @always(clk.posedge)
    def follow() -> None:
        if step.issue:
            early.next = joined
        codes.next = early

    return walk_columns, walk_rows, sums, follow
