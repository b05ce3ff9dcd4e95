"""All lanes of a gradient module: they multiply windows by deltas, and keep the sums of a pass."""

from __future__ import annotations

from typing import Any

from myhdl import ConcatSignal, always, always_comb, block

from merp.hdl.base.delay import delay
from merp.hdl.base.signals import bits, count, flag
from merp.hdl.base.valid_delay import valid_delay
from merp.hdl.conversion.entity import Bit, Word, entity
from merp.hdl.fcnn.gradient_lane import gradient_lane
from merp.hdl.fcnn.turn_sum import SumStore
from merp.models.machines.fcnn.params.stream_design import StreamDesign


@block
def _empty(filled: Word, place: Word, empty: Bit) -> Any:
    @always_comb
    def compare() -> None:
        empty.next = filled <= place

    return compare


@entity
def gradient_array(
    clk: Bit,
    rst: Bit,
    clear: Bit,
    issue: Bit,
    windows: Word,
    deltas: Word,
    places: Word,
    turn: Word,
    sums: Word,
    design: StreamDesign,
) -> Any:
    """Add the products of windows and deltas to sums that take turns.

    clear    in   no sum has a product
    issue    in   in the next cycle, windows and deltas are valid
    windows  in   k*k elements for each lane, lane 0 lowest
    deltas   in   deltas of m maps; those of the first map, lane 0 lowest, are lowest
    places   in   A places, the first lowest: element e reads the sum of place e mod A
    turn     out  place of the sum that the next product is added to
    sums     out  the sums read in the cycle before: of each lane, lane 0 lowest, all elements

    Each output map has its bias, and then its kernel, row by row. A sum without a product is read
    as +0. Latency: mul_latency + 2 + add_latency cycles from issue to the stored sums. Throughput:
    a window per cycle. Reset: no window is on its way; a run begins with clear.
    """
    width, lanes, maps = design.fmt.width, design.lanes, design.maps_at_once
    taps, turns, line = design.taps, design.accumulators, design.window_width
    size, part = len(turn), (taps + 1) * width
    filled, written = count(turns), bits(size)
    reads, write, clears = flag(), flag(), bits(turns)
    empty = [flag() for _ in range(turns)]
    words = [bits(part) for _ in range(lanes * maps)]
    all_empty = ConcatSignal(*reversed(empty))
    all_words = ConcatSignal(*reversed(words)) if len(words) > 1 else words[0]

    @always_comb
    def join() -> None:
        clears.next = all_empty
        sums.next = all_words

    @always(clk.posedge)
    def take_turns() -> None:
        if reads:
            if turn == turns - 1:
                turn.next = 0
            else:
                turn.next = turn + 1
            if filled != turns:
                filled.next = filled + 1
        if clear:
            turn.next = 0
            filled.next = 0

    return (
        join,
        take_turns,
        [
            _empty(filled, place=places((q + 1) * size, q * size), empty=empty[q])
            for q in range(turns)
        ],
        valid_delay(clk, rst, d=issue, q=reads, cycles=design.mul_latency),
        valid_delay(clk, rst, d=reads, q=write, cycles=1 + design.add_latency),
        delay(clk, d=turn, q=written, cycles=1 + design.add_latency),
        [
            gradient_lane(
                clk, window=windows((g + 1) * line, g * line),
                delta=deltas((j * lanes + g + 1) * width, (j * lanes + g) * width),
                places=places, clears=clears, store=SumStore(write=write, written=written),
                sums=words[g * maps + j], design=design, first=j * (taps + 1),
            )
            for g in range(lanes)
            for j in range(maps)
        ],
    )  # fmt: skip
