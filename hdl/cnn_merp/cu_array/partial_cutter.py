"""Packed partial sums to pieces, none of which reaches beyond a word of the CUs."""

from __future__ import annotations

from typing import Any

from myhdl import always, always_comb

from merp.hdl.base.signals import Stream, count, flag
from merp.hdl.conversion.entity import Bit, Word, entity
from merp.hdl.streams.beat_cutter import beat_cutter
from merp.models.machines.cnn_merp.params.design import EngineDesign


@entity
def partial_cutter(
    clk: Bit,
    rst: Bit,
    start: Bit,
    last_cus: Word,
    ends_word: Bit,
    ends_position: Bit,
    ends_run: Bit,
    sink: Stream,
    source: Stream,
    design: EngineDesign,
) -> Any:
    """Cut beats of map_port partial sums where the words of n_cu end that they go to.

    last_cus  in   CUs in use in a position's last word
    ends_word, ends_position, ends_run  in  the piece at hand is the last one of its word, of its
                                            position, of the run
    sink      in   beats without gaps, the first partial sum lowest
    source    out  pieces, the first partial sum lowest, words behind the last any; last with the
                   last piece, unless it came with another beat than that of its last word

    The sum of CU j is so in place j mod map_port of piece j div map_port of its word. A last at the
    wrong place stays wrong. Latency: combinational. Throughput: a piece per cycle. Reset, and
    start: the next piece begins with a beat.
    """
    lanes = design.map_port
    # Of fewer CUs than that there is one piece to a word, which needs all bits of their number.
    low = min(lanes.bit_length() - 1, len(last_cus))
    of_word = design.n_cu % lanes or lanes
    of_last = count(lanes)  # partial sums of a position's last piece; the same in all of a run
    wanted = count(lanes)
    misplaced, take = flag(), flag()

    @always(clk.posedge)
    def settle() -> None:
        of_last.next = lanes
        if last_cus[low:] != 0:
            of_last.next = last_cus[low:]

    @always_comb
    def measure() -> None:
        wanted.next = lanes
        if ends_position:
            wanted.next = of_last
        elif ends_word:
            wanted.next = of_word

    @always_comb
    def hand_on() -> None:
        take.next = source.valid and source.ready
        if misplaced:
            source.last.next = not ends_run
        else:
            source.last.next = ends_run

    cutter = beat_cutter(
        clk,
        rst,
        start,
        wanted=wanted,
        ending=ends_run,
        sink=sink,
        piece=source.data,
        valid=source.valid,
        take=take,
        misplaced=misplaced,
    )
    return settle, measure, hand_on, cutter
