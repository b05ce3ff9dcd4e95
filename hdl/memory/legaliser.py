"""Cut runs of words into legal bursts of AXI4."""

from __future__ import annotations

from typing import Any

from myhdl import always, always_comb, concat, intbv

from merp.hdl.base.signals import bits, count, flag
from merp.hdl.conversion.entity import Bit, entity
from merp.hdl.memory.requests import Bursts, Runs
from merp.models.memory.params.mover import Mover


@entity
def legaliser(clk: Bit, rst: Bit, runs: Runs, bursts: Bursts, mover: Mover) -> Any:
    """Send the bursts of each run: aligned to beats, of type INCR, at most burst_beats beats long.

    runs    in   runs of words
    bursts  out  bursts; last is set with the last burst of a run that carries last

    A burst stays within an aligned block of burst_beats beats. A block is no larger than 4 KiB, so
    no burst crosses a multiple of 4 KiB. All fields of a burst are registers. Latency: two cycles.
    Throughput: a burst per cycle, also from one run to the next. Reset: no run is in progress.
    """
    lanes, port = mover.lanes, mover.port
    shift = (lanes - 1).bit_length()
    width, beat_width = mover.address_bits, port.beat_address_bits
    block = (port.burst_beats - 1).bit_length()  # from this bit on, an address counts blocks
    high = beat_width - block
    whole, most = port.burst_beats, port.burst_beats - 1
    held, at, first = flag(), bits(beat_width), count(lanes - 1)  # what is left of a run, its start
    end = bits(beat_width)  # address of the last beat of the run
    final, run_last = count(lanes - 1), flag()
    ending, free = flag(), flag()

    @always_comb
    def compare() -> None:
        ending.next = at[:block] == end[:block]
        free.next = not bursts.valid or bursts.ready

    @always_comb
    def accept() -> None:
        runs.ready.next = not held or (free and ending)

    @always(clk.posedge)
    def cut() -> None:
        beats = intbv(0)[block + 1 :]
        if free:
            bursts.valid.next = held
            bursts.address.next = at
            bursts.first.next = first
            bursts.last.next = ending and run_last
            beats[:] = most
            bursts.final.next = lanes - 1
            if ending:
                beats[:] = end[block:]
                bursts.final.next = final
            beats[:] = beats[block:] + whole - at[block:]  # modulo a block
            bursts.length.next = beats[block:]
        if rst:
            bursts.valid.next = False

    @always(clk.posedge)
    def walk() -> None:
        behind, following = intbv(0)[width + 1 :], intbv(0)[high + 1 :]
        if not held or (free and ending):
            held.next = runs.valid
            behind[:] = runs.address + runs.length
            at.next = runs.address[:shift]
            end.next = behind[width:shift]
            run_last.next = runs.last
            if lanes > 1:
                first.next = runs.address[shift:]
                final.next = behind[shift:]
        elif free:
            following[:] = at[:block] + 1
            at.next = concat(following[high:], intbv(0)[block:])
            first.next = 0
        if rst:
            held.next = False

    return compare, accept, cut, walk
