"""Cut packed partial sums into pieces, so that no piece has sums of two words of n_cu sums."""

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
    """Cut beats of map_port partial sums at the ends of the words of n_cu sums.

    last_cus  in   CUs in use in the last word of a position.
    ends_word, ends_position, ends_run  in   the current piece is the last one of its word, of its
                                             position, of the run
    sink      in   beats without gaps, the first partial sum lowest
    source    out  pieces, the first partial sum lowest, with arbitrary words behind the last. last
                   is set with the last piece, unless the last of sink arrived with a beat that does
                   not hold the last word

    The sum of CU j is thus at place j mod map_port of piece j div map_port of its word. A misplaced
    last stays misplaced. Latency: combinational. Throughput: a piece per cycle. Reset, and start:
    the next piece begins with a beat.
    """
    lanes = design.map_port
    # With fewer CUs than that, a word is one piece, which uses all bits of their number.
    low = min(lanes.bit_length() - 1, len(last_cus))
    of_word = design.n_cu % lanes or lanes
    of_last = count(lanes)  # partial sums of the last piece of a position; constant in a run
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
