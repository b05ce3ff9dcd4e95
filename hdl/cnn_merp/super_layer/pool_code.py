"""Position of an element in each of its pooling windows."""

from __future__ import annotations

from typing import Any

from myhdl import ConcatSignal, always, always_comb, block, intbv

from merp.hdl.base.signals import bits, count
from merp.hdl.cnn_merp.ports.outputs import OutputConfig
from merp.hdl.cnn_merp.super_layer.far_code import far_code
from merp.hdl.cnn_merp.super_layer.pool_strobes import pool_strobes
from merp.hdl.cnn_merp.super_layer.super_layer_ports import BeatStep, PoolSteps
from merp.hdl.conversion.entity import Bit, Word, entity
from merp.models.base.state_field import position_bits
from merp.models.machines.cnn_merp.params.design import EngineDesign


@block
def _sum(row: Word, column: Word, code: Word) -> Any:
    """Add the two parts of a position; the sum is undefined if no window is open."""
    width, size = len(row), len(code)

    @always_comb
    def add() -> None:
        total = intbv(0)[width:]
        total[:] = row + column
        code.next = total[size:]

    return add


@block
def _walk(
    clk: Bit,
    steps: PoolSteps,
    stride: Word,
    amount: Word,
    place: Word,
    pad: Word = None,
    first_place: Word = 0,
) -> Any:
    """Follow one direction: each place is amount per index, from the first index of its window.

    pad, first_place  in  (if windows may extend beyond the edges) indices by which the first window
                          does, and amount times this number
    """
    overlap = len(place)
    left = count((1 << len(stride)) - 1)  # indices until the next window begins
    window_mod = count(overlap - 1)
    second = 1 % overlap
    until = stride if pad is None else bits(len(stride))  # indices until the second window begins

    @always(clk.posedge)
    def walk() -> None:
        if steps.restart:
            left.next = until
            window_mod.next = second
            for i in range(overlap):
                place[i].next = first_place
        elif steps.advance:
            for j in range(overlap):
                if left == 1 and window_mod == j:
                    place[j].next = 0
                else:
                    place[j].next = place[j] + amount
            if left != 1:
                left.next = left - 1
            else:
                left.next = stride
                if window_mod == overlap - 1:
                    window_mod.next = 0
                else:
                    window_mod.next = window_mod + 1

    if pad is None:
        return walk

    @always_comb
    def shorten() -> None:
        until.next = 0
        if pad < stride:
            until.next = stride - pad

    return walk, shorten


@entity
def pool_code(
    clk: Bit, start: Bit, config: OutputConfig, step: BeatStep, codes: Word, design: EngineDesign
) -> Any:
    """Follow the output positions and give row * window + column in the window of each memory.

    step   in   the beat that beat_issue issues in this cycle
    codes  out  a code per pooling memory, memory 0 in the lowest bits, in the cycle of
                PoolUpdate.fresh

    Places of rows and columns are numbered modulo overlap, as in pool_axis. The code of a memory
    without an open window is arbitrary. Latency: two cycles. Throughput: a beat per cycle. Reset:
    none, begin with start.
    """
    overlap, window = design.pool_overlap, design.pool_window
    far = config.has("late_rows")
    size = position_bits(window)
    # A place counts on until its next window, overlap * stride positions after the last one.
    furthest = overlap * design.max_stride - 1
    if far:
        # A map that is smaller than a window may have fewer windows at index 0 than its padding
        # has strides. Then a place counts on to the end of the map.
        furthest += window + overlap
    width = max(size, (furthest * (window + 1)).bit_length())
    row = [bits(width) for _ in range(overlap)]  # times window
    column = [bits(width) for _ in range(overlap)]
    to_rows, to_columns = PoolSteps(), PoolSteps()
    places = [bits(size) for _ in range(overlap**2)]
    joined = ConcatSignal(*reversed(places)) if overlap > 1 else places[0]
    at_rows: dict[str, Any] = {}
    at_columns: dict[str, Any] = {}
    if design.hanging:
        at_rows = {"pad": config.pool_top, "first_place": config.pool_above}
        at_columns = {"pad": config.pool_left, "first_place": config.pool_left}
    early = bits(overlap**2 * size)

    walk: Any = _walk
    if far:
        walk = far_code
        del at_rows["pad"], at_columns["pad"]
        at_rows |= {
            "at_first": config.pool_open_rows,
            "next_begin": config.pool_next_row,
            "step": config.pool_step,
        }
        at_columns |= {
            "at_first": config.pool_open_columns,
            "next_begin": config.pool_next_column,
            "step": config.stride,
        }

    strobes = pool_strobes(
        start,
        step=step,
        rows=to_rows,
        columns=to_columns,
    )
    walks = [
        walk(
            clk,
            steps=to_rows,
            stride=config.stride,
            amount=config.window,
            place=row,
            **at_rows,
        ),
        walk(
            clk,
            steps=to_columns,
            stride=config.stride,
            amount=1,
            place=column,
            **at_columns,
        ),
    ]
    sums = [
        _sum(row=row[index // overlap], column=column[index % overlap], code=places[index])
        for index in range(overlap**2)
    ]

    @always(clk.posedge)
    def follow() -> None:
        if step.issue:
            early.next = joined
        codes.next = early

    return strobes, walks, sums, follow
