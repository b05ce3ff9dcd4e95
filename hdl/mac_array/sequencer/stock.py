"""Whether what a slot needs is there, of what comes piece by piece and is used in runs."""

from __future__ import annotations

from typing import Any

from myhdl import always, always_comb, block, intbv

from merp.hdl.base.signals import count
from merp.hdl.conversion.entity import Bit
from merp.hdl.mac_array.sequencer.sequencer_ports import RunMoves, RunPieces


@block
def stock(
    clk: Bit,
    rst: Bit,
    start: Bit,
    arrived: Bit,
    run: RunPieces,
    moves: RunMoves,
    there: Bit,
    runs: int,
    longest: int,
) -> Any:
    """Count pieces, and those that are needed, from the pass's first one on.

    arrived  in   pulse: another piece has come
    run      in   pieces of a run, and those that are needed of it
    moves    in   within the run, and to the next one; no advance in the cycle behind advance or
                  start
    there    out  they have come

    runs, longest: the most runs of a pass, and the most pieces of a run. Throughput: a step per
    cycle. Reset: none has come.
    """
    # Behind a pass's last run the sums go on for two more.
    room = (runs + max(runs, 2)) * longest
    come, needed = count(room), count(room)
    # Of this run and the one behind: needed at first; all of it.
    run_first, run_all, next_first, next_all = (count(room) for _ in range(4))

    @always_comb
    def tell() -> None:
        there.next = needed <= come

    @always(clk.posedge)
    def tally() -> None:
        if arrived:
            come.next = come + 1
        if start or rst:
            come.next = 0

    @always(clk.posedge)
    def ask() -> None:
        further = intbv(0)[len(needed) + 1 :]
        next_first.next = run_first + run.pieces
        next_all.next = run_all + run.pieces
        if moves.advance:
            needed.next = next_first
            run_first.next = next_first
            run_all.next = next_all
        elif moves.rewind:
            needed.next = run_first
        elif moves.step:
            further[:] = needed
            further[:] = further + run.stride
            needed.next = further
            if further > run_all:
                needed.next = run_all
        if start:
            needed.next = run.first
            run_first.next = run.first
            run_all.next = run.pieces

    return tell, tally, ask
