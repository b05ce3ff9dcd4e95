"""Check whether the data of a slot has arrived, for data that arrives in pieces and runs."""

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
    """Count arrived pieces and required pieces, from the first piece of the pass on.

    arrived  in   pulse: another piece has arrived
    run      in   pieces of a run, and the pieces that slots use
    moves    in   moves within the run, and to the next run; no advance in the cycle behind advance
                  or start
    there    out  the required pieces have arrived

    runs, longest: the largest number of runs of a pass, and of pieces of a run. Throughput: a step
    per cycle. Reset: no piece has arrived.
    """
    # Behind the last run of a pass, the sums continue for two more runs.
    room = (runs + max(runs, 2)) * longest
    come, needed = count(room), count(room)
    # For this run and the next one: the pieces required at first; all pieces.
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
