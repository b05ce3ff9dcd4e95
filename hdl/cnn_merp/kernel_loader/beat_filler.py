"""Zeros behind the weights of every output of a folded layer, several words to a beat."""

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
    """Word ``at`` of the beat that is made: one that waits, or that of the beat at hand."""
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
        # Behind a beat that leaves, what is over of the one at hand lies in the lowest places.
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

    config           in   of the run, which has so many times length words as it has output maps
    length, filling  in   at least one word; no zeros are allowed. Stable from start on
    sink             in   beats of kernel_port words, the first lowest, of which the last may have
                          fewer
    source           out  the same words and the zeros, packed; last goes with the last of them
                          unless it came with another beat than the stream's last

    Without filling both streams are one. Else a cycle takes the words of a beat as far as they are
    of one output, or makes up to kernel_port zeros.
    Latency: combinational. Throughput: a beat per cycle; one more for the zeros of an output, or as
    many as they fill, and one more where an output ends within a beat. Reset: nothing is taken.
    """
    lanes, width, n_cu = design.kernel_port, design.fmt.width, design.n_cu
    most = 2 * lanes
    active = flag()  # words or zeros are still to come
    left = count(max(design.kernel_words * design.taps, most))  # words of the output to come
    zeros = count(max(design.taps, most))  # of its zeros
    used = count(lanes)  # words of the beat at hand that have been taken
    fill = count(most)  # words that wait for others
    turn = count(lanes - 1)  # from a word's place at hand to its place in the beat that is made
    cu = count(n_cu)
    group = count(design.groups)
    flush, wrong = flag(), flag()
    some, total = count(most), count(most)  # words that are added in this cycle, and with them
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
        # Its last word is taken, or of the stream's last beat the last one that counts.
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
