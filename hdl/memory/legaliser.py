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
    no burst crosses a multiple of 4 KiB. Latency: one cycle. Throughput: a burst per cycle, also
    from one run to the next. Reset: no run is in progress.
    """
    lanes, port = mover.lanes, mover.port
    shift = (lanes - 1).bit_length()
    width, beat_width = mover.address_bits, port.beat_address_bits
    block = (port.burst_beats - 1).bit_length()  # from this bit on, an address counts blocks
    high = beat_width - block
    whole, most = port.burst_beats, port.burst_beats - 1
    end = bits(beat_width)  # address of the last beat of the run
    final, run_last = count(lanes - 1), flag()
    ending = flag()

    @always_comb
    def compare() -> None:
        ending.next = bursts.address[:block] == end[:block]

    @always_comb
    def offer() -> None:
        beats = intbv(0)[block + 1 :]
        beats[:] = most
        bursts.final.next = lanes - 1
        if ending:
            beats[:] = end[block:]
            bursts.final.next = final
        beats[:] = beats[block:] + whole - bursts.address[block:]  # modulo a block
        bursts.length.next = beats[block:]
        bursts.last.next = ending and run_last
        runs.ready.next = not bursts.valid or (bursts.ready and ending)

    @always(clk.posedge)
    def walk() -> None:
        behind, following = intbv(0)[width + 1 :], intbv(0)[high + 1 :]
        if not bursts.valid or (bursts.ready and ending):
            bursts.valid.next = runs.valid
            behind[:] = runs.address + runs.length
            bursts.address.next = runs.address[:shift]
            end.next = behind[width:shift]
            run_last.next = runs.last
            if lanes > 1:
                bursts.first.next = runs.address[shift:]
                final.next = behind[shift:]
        elif bursts.ready:
            following[:] = bursts.address[:block] + 1
            bursts.address.next = concat(following[high:], intbv(0)[block:])
            bursts.first.next = 0
        if rst:
            bursts.valid.next = False

    return compare, offer, walk
