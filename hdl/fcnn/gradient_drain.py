"""Control of the drain of a gradient module: it reads the sums of a pass, an element per cycle."""

from __future__ import annotations

from typing import Any

from myhdl import ConcatSignal, always, always_comb

from merp.hdl.base.delay import delay
from merp.hdl.base.either import either
from merp.hdl.base.interface import GivenPorts, given_all
from merp.hdl.base.signals import bits, count, flag
from merp.hdl.conversion.entity import Bit, Word, entity
from merp.models.machines.fcnn.params.gradient_drain import GradientDrain
from merp.models.machines.fcnn.params.stream_design import StreamDesign


class PassPlace(GivenPorts):
    """The place of a pass in its run."""

    MEMBERS = given_all(opens=Bit, last_block=Bit, last_maps=Word)


class DrainProgress(GivenPorts):
    """Whether a drain goes on, and whether it moves."""

    MEMBERS = given_all(held=Bit, stuck=Bit, leaves=Bit)


class DrainRead(GivenPorts):
    """The sums that a drain reads in a cycle, and the elements that it read before."""

    MEMBERS = given_all(places=Word, elements=Word, gives=Bit)


@entity
def gradient_drain(
    clk: Bit,
    rst: Bit,
    ended: Bit,
    settled: Bit,
    room: Bit,
    of_pass: PassPlace,
    turn: Word,
    progress: DrainProgress,
    read: DrainRead,
    design: StreamDesign,
) -> Any:
    """Read the sums of a pass in the order of its gradients.

    ended       in   pulse: the last beat of a pass is taken
    settled     in   pulse, later: in the next cycle its sums are stored
    room        in   the output has places for all gradients of a pass
    opens       in   at ended: the pass is the first one of its block, whose biases are given
    last_block  in   at ended: the block is the last one
    last_maps   in   output maps of the last block
    turn        in   place of the sum that the next product is added to
    held        out  no beat may be taken: the sums of a pass are in use
    stuck       out  the drain waits for room
    leaves      out  the drain ends in this cycle
    places      out  A places, the first lowest: element e reads the sum of place e mod A; all of
                     them are turn outside a drain
    elements    out  A numbers, the first lowest: number a is the element whose sum a was read in
                     the cycle before
    gives       out  sum 0 of an element is read, and the element is a gradient of the pass

    Element e reads sum a in cycle e + a of the drain. Therefore each memory of sums needs one port
    only. Missing maps, and biases that were given before, take cycles too. Latency: a drain begins
    in the cycle after settled, or after room if this is later. It takes m (k^2 + 1) + A - 1 cycles.
    Reset: no drain.
    """
    opens, last_block, last_maps = of_pass.opens, of_pass.last_block, of_pass.last_maps
    held, stuck, leaves = progress.held, progress.stuck, progress.leaves
    places, elements, gives = read.places, read.elements, read.gives
    drain = GradientDrain(design)
    turns, at_once = design.accumulators, design.maps_at_once
    size, wide = len(places) // turns, len(elements) // turns
    waiting, reading, with_biases, short = (flag() for _ in range(4))
    cycle, number = count(drain.reading - 1), bits(wide)
    in_map, at_map = count(design.taps), count(at_once)
    first = bits(size)
    place = [first, *(bits(size) for _ in range(1, turns))]
    shown = [bits(size) for _ in range(turns)]
    numbers = [bits(wide) for _ in range(turns)]  # each one a cycle later
    all_places, all_numbers = ConcatSignal(*reversed(shown)), ConcatSignal(*reversed(numbers))

    @always_comb
    def join() -> None:
        places.next = all_places
        elements.next = all_numbers

    @always_comb
    def tell() -> None:
        stuck.next = (settled or waiting) and not room
        leaves.next = reading and cycle == drain.reading - 1

    @always_comb
    def give() -> None:
        there = at_map < at_once and (not short or at_map < last_maps)
        gives.next = reading and there and (with_biases or in_map != 0)

    @always_comb
    def number_elements() -> None:
        number.next = 0
        if cycle < drain.elements:
            number.next = cycle

    @always(clk.posedge)
    def follow() -> None:
        if ended:
            held.next = True
            with_biases.next = opens
            short.next = last_block
        if leaves:
            held.next = False
            reading.next = False
        if settled:
            waiting.next = True
        if (settled or waiting) and room:
            waiting.next = False
            reading.next = True
        if rst:
            held.next = False
            reading.next = False
            waiting.next = False

    @always(clk.posedge)
    def walk() -> None:
        if reading and not leaves:
            cycle.next = cycle + 1
            if first == turns - 1:
                first.next = 0
            else:
                first.next = first + 1
            if in_map == design.taps:
                in_map.next = 0
                if at_map != at_once:
                    at_map.next = at_map + 1
            else:
                in_map.next = in_map + 1
        else:
            cycle.next = 0
            first.next = 0
            in_map.next = 0
            at_map.next = 0

    trail = [
        (
            delay(clk, d=place[q - 1], q=place[q], cycles=1),
            delay(clk, d=numbers[q - 1], q=numbers[q], cycles=1),
        )
        for q in range(1, turns)
    ]
    return (
        join, tell, give, number_elements, follow, walk, trail,
        delay(clk, d=number, q=numbers[0], cycles=1),
        [either(choice=reading, one=place[q], other=turn, y=shown[q]) for q in range(turns)],
    )  # fmt: skip
