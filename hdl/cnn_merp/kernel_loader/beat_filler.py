"""Append zeros to the weights of every output of a folded layer, with several words per beat."""

from __future__ import annotations

from typing import Any

from myhdl import ConcatSignal, always, always_comb, block, intbv

from merp.hdl.base.rotator import rotator
from merp.hdl.base.signals import Stream, bits, count, flag
from merp.hdl.cnn_merp.ports.kernels import LoadConfig
from merp.hdl.conversion.entity import Bit, Word, entity
from merp.models.machines.cnn_merp.params.design import EngineDesign


@block
def _lane(
    clk: Bit, step: Bit, leaves: Bit, zero: Bit, fill: Word, fresh: Word, lane: Word, at: int
) -> Any:
    """Select word ``at`` of the next beat: a word that waits, or a word of the current beat."""
    kept = bits(len(lane))

    @always_comb
    def choose() -> None:
        if fill > at:
            lane.next = kept
        elif zero:
            lane.next = 0
        else:
            lane.next = fresh

    @always(clk.posedge)
    def keep() -> None:
        # Behind a beat that is sent, the unused words of the current beat are in the lowest places.
        if step and leaves:
            if zero:
                kept.next = 0
            else:
                kept.next = fresh
        elif step:
            kept.next = lane

    return choose, keep


@entity
def beat_filler(
    clk: Bit,
    rst: Bit,
    start: Bit,
    config: LoadConfig,
    length: Word,
    filling: Word,
    sink: Stream,
    source: Stream,
    design: EngineDesign,
) -> Any:
    """Send ``filling`` zeros behind every ``length`` words of a stream of packed beats.

    config           in   registers of the run, which has length words per output map.
    length, filling  in   words per output, at least one; zeros per output, possibly none. Both are
                          stable from start on
    sink             in   beats of kernel_port words, the first lowest; the last beat may have fewer
                          words
    source           out  the words and the zeros, packed. last is set with the last of them, unless
                          the last of sink arrived with a wrong beat

    Without filling, both streams are one. Otherwise a cycle takes the words of a beat that belong
    to one output, or makes up to kernel_port zeros. Latency: combinational. Throughput: a beat per
    cycle. The zeros of an output take one more cycle, or as many cycles as the beats that they
    fill. An output that ends within a beat takes one more cycle. Reset: nothing is taken.
    """
    lanes, width, n_cu = design.kernel_port, design.fmt.width, design.n_cu
    most = 2 * lanes
    active = flag()  # words or zeros are left
    left = count(max(design.kernel_words * design.taps, most))  # words of the output left
    zeros = count(max(design.taps, most))  # zeros of the output left
    used = count(lanes)  # words of the current beat that have been taken
    fill = count(most)  # words that wait for others
    # distance from a word's place in the current beat to its place in the next beat
    turn = count(lanes - 1)
    cu = count(n_cu)
    group = count(design.groups)
    flush, wrong = flag(), flag()
    # words that are added in this cycle, and the total with them
    some, total = count(most), count(most)
    zero, ends, final, complete = flag(), flag(), flag(), flag()
    there, leaves, step, over = flag(), flag(), flag(), flag()
    made = bits(lanes * width)
    turned = bits(lanes * width)
    words = [bits(width) for _ in range(lanes)]
    joined = ConcatSignal(*reversed(words))

    @always_comb
    def measure() -> None:
        added = intbv(0)[len(some) :]
        added[:] = lanes - used
        if zeros != 0:
            added[:] = lanes
            if zeros < lanes:
                added[:] = zeros[len(some) :]
        elif left <= added:
            added[:] = left[len(some) :]
        if flush:
            added[:] = 0
        some.next = added
        total.next = fill + added

    @always_comb
    def recognise() -> None:
        zero.next = zeros != 0 or flush
        ends.next = zeros == 0 and left == some and not flush
        final.next = group + 1 == config.groups and cu + 1 == config.last_cus

    @always_comb
    def decide() -> None:
        complete.next = final and zeros != 0 and zeros <= lanes
        there.next = active and (zero or sink.valid)

    @always_comb
    def emit() -> None:
        leaves.next = flush or total >= lanes or complete
        # The last word of the beat is taken, or in the last beat of the stream the last word that
        # counts.
        over.next = not zero and (used + some == lanes or (ends and final))

    @always_comb
    def advance() -> None:
        step.next = there and (source.ready or not leaves)

    @always_comb
    def join() -> None:
        made.next = joined

    @always_comb
    def pass_on() -> None:
        if filling == 0:
            source.data.next = sink.data
            source.valid.next = sink.valid
            source.last.next = sink.last
            sink.ready.next = source.ready
        else:
            source.data.next = made
            source.valid.next = there and leaves
            source.last.next = (flush or (complete and total <= lanes)) and not wrong
            sink.ready.next = step and over

    @always(clk.posedge)
    def tally() -> None:
        ahead = intbv(0)[len(some) :]
        if step:
            if total >= lanes:
                fill.next = total - lanes
            else:
                fill.next = total
            if zeros != 0:
                ahead[:] = turn
                ahead[:] = ahead + lanes - some
                turn.next = ahead[len(turn) :]
                zeros.next = zeros - some
                if complete:
                    flush.next = total > lanes
                    active.next = total > lanes
                elif zeros == some:
                    if cu + 1 != n_cu:
                        cu.next = cu + 1
                    else:
                        cu.next = 0
                        group.next = group + 1
            elif flush:
                active.next = False
            else:
                used.next = used + some
                left.next = left - some
                if ends:
                    left.next = length
                    zeros.next = filling
                if over:
                    used.next = 0
                    if sink.last != (ends and final):
                        wrong.next = True
        if start or rst:
            active.next = start and filling != 0 and not rst
            left.next = length
            zeros.next = 0
            used.next = 0
            fill.next = 0
            turn.next = 0
            cu.next = 0
            group.next = 0
            flush.next = False
            wrong.next = False

    return (
        measure, recognise, decide, emit, advance, join, pass_on, tally,
        rotator(x=sink.data, shift=turn, y=turned, places=lanes, width=width),
        [
            _lane(
                clk,
                step=step,
                leaves=leaves,
                zero=zero,
                fill=fill,
                fresh=turned((at + 1) * width, at * width),
                lane=words[at],
                at=at,
            )
            for at in range(lanes)
        ],
    )  # fmt: skip
