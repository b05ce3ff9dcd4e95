"""Gradients of kernels and biases from two streams: the input of a layer, and its deltas.

Source: F-CNN section IV and equation 8, for the convolutions of a backward module. The order of
additions is in ``models/golden/stream_update.py``.
"""

from __future__ import annotations

from typing import Any, ClassVar

from myhdl import ConcatSignal, always, always_comb, block

from merp.hdl.base.interface import DesignPorts, Member
from merp.hdl.base.masked_tap import masked_tap
from merp.hdl.base.registers import RegisterBundle
from merp.hdl.base.signals import Stream, bits, count, flag
from merp.hdl.base.tap_line import tap_line
from merp.hdl.base.valid_delay import valid_delay
from merp.hdl.conversion.entity import Bit, Word, entity
from merp.hdl.fcnn.gradient_array import gradient_array
from merp.hdl.fcnn.gradient_drain import DrainProgress, DrainRead, PassPlace, gradient_drain
from merp.hdl.fcnn.gradient_tree import gradient_tree
from merp.hdl.fcnn.grid_walk import GridConfig, GridPlace, grid_walk
from merp.hdl.streams.credit_source import credit_source
from merp.hdl.streams.stream_gate import stream_gate
from merp.models.machines.fcnn.params.gradient_drain import GradientDrain
from merp.models.machines.fcnn.params.gradient_registers import GRADIENT
from merp.models.machines.fcnn.params.stream_design import StreamDesign


class GradientConfig(RegisterBundle):
    """Run-time registers of a gradient module, from the table ``GRADIENT``."""

    def __init__(self, design: StreamDesign) -> None:
        super().__init__(GRADIENT, design)


class GradientStreams(DesignPorts[StreamDesign]):
    """Streams of a gradient module."""

    MEMBERS: ClassVar[tuple[Member[Any], ...]] = (
        Member("sink_map", lambda design: Stream(design.map_width), kind=Stream),
        Member("sink_delta", lambda design: Stream(design.sum_width), kind=Stream),
        Member("source", lambda design: Stream(design.fmt.width), kind=Stream),
    )


class GradientActivity:
    """The work of a cycle: in each cycle of a run, one flag is high, and ``useful`` beside issue.

    issue         a beat of the walk is taken
    useful        the beat has deltas
    drain         sums of a pass are stored or read, or the last gradients leave
    stall_output  a drain waits for places of the output
    stall_map     a beat waits for the input
    stall_delta   a beat waits for its deltas only
    """

    def __init__(self) -> None:
        self.issue, self.useful, self.drain = flag(), flag(), flag()
        self.stall_output, self.stall_map, self.stall_delta = flag(), flag(), flag()


@block
def _wire(word: Word, copy: Word) -> Any:
    @always_comb
    def follow() -> None:
        copy.next = word

    return follow


@block
def _reserve(
    clk: Bit, clear: Bit, gives: Bit, source: Stream, room: Bit, words: int, at_once: int
) -> Any:
    """Tell whether ``at_once`` of ``words`` places are free; a word keeps its place at the port."""
    reserved = count(words)

    @always_comb
    def tell() -> None:
        room.next = reserved <= words - at_once

    @always(clk.posedge)
    def tally() -> None:
        leaves = source.valid and source.ready
        if gives and not leaves:
            reserved.next = reserved + 1
        elif leaves and not gives:
            reserved.next = reserved - 1
        if clear:
            reserved.next = 0

    return tell, tally


@entity
def stream_gradient(
    clk: Bit,
    rst: Bit,
    start: Bit,
    config: GradientConfig,
    streams: GradientStreams,
    activity: GradientActivity,
    done: Bit,
    framing_error: Bit,
    design: StreamDesign,
) -> Any:
    """Compute the gradients of the kernels and biases of a layer while its input streams through.

    start          in   pulse: a run begins; registers are stable from here to done
    sink_map       in   the input maps, row by row, once for each block of m output maps; an element
                        of each lane, lane 0 lowest
    sink_delta     in   m G deltas for each window that counts, again for each input map; the lanes
                        of the first map are lowest
    source         out  after each pass, k*k gradients of each output map of the block; with the
                        first input map, a bias before them
    activity       out  the work of this cycle
    done           out  the last gradient and beat have passed, and the last sums are read; high
                        until the next start
    framing_error  out  last arrived with a wrong word of an input; high until the next start

    A tap outside the map is +0 and is multiplied by its delta like any other. After each pass the
    walk pauses until its sums are read, for m (k^2 + 1) + mul_latency + 2 add_latency + 1 cycles.
    Throughput: a beat per cycle. Reset: no run.
    """
    sink_map, sink_delta, source = streams.sink_map, streams.sink_delta, streams.source
    drain = GradientDrain(design)
    width, k, taps, lanes = design.fmt.width, design.k, design.taps, design.lanes
    turns, line = design.accumulators, design.window_width
    place = GridPlace(design)
    map_valid, delta_valid, map_ready, delta_ready = (flag() for _ in range(4))
    map_error, delta_error, finished, sending = (flag() for _ in range(4))
    advance, issue, ended, settled, held, stuck = (flag() for _ in range(6))
    gives, push, room, clear, leaves, fresh = (flag() for _ in range(6))
    window, masked = bits(lanes * line), bits(lanes * line)
    kept = [bits(width) for _ in range(lanes * taps)]
    all_kept = ConcatSignal(*reversed(kept)) if len(kept) > 1 else kept[0]
    deltas, gradient = bits(design.sum_width), bits(width)
    turn = count(turns - 1)
    places = bits(turns * len(turn))
    elements = bits(turns * (drain.elements - 1).bit_length())
    sums = bits(lanes * drain.elements * width)

    @always_comb
    def move() -> None:
        free = place.walking and not held
        map_there = map_valid or not place.takes
        delta_there = delta_valid or not place.counts
        advance.next = free and map_there and delta_there
        map_ready.next = free and place.takes and delta_there
        delta_ready.next = free and place.counts and map_there

    @always_comb
    def judge() -> None:
        issue.next = advance and place.counts
        ended.next = advance and place.ends

    @always_comb
    def show() -> None:
        free = place.walking and not held
        starved = place.takes and not map_valid
        activity.issue.next = advance
        activity.useful.next = issue
        activity.stall_map.next = free and starved
        activity.stall_delta.next = free and not starved and not advance
        activity.stall_output.next = stuck
        activity.drain.next = not stuck and (held or (sending and not place.walking))

    @always(clk.posedge)
    def keep() -> None:
        deltas.next = sink_delta.data

    @always_comb
    def gather() -> None:
        masked.next = all_kept

    @always_comb
    def begin() -> None:
        clear.next = rst or start
        fresh.next = start or leaves

    @always_comb
    def tell() -> None:
        done.next = finished and not place.walking and not held
        framing_error.next = map_error or delta_error

    @always(clk.posedge)
    def follow() -> None:
        if source.valid and source.ready and source.last:
            finished.next = True
            sending.next = False
        if start:
            finished.next = False
            sending.next = True
        if rst:
            finished.next = False
            sending.next = False

    intake = (
        stream_gate(
            clk, rst, start, words=config.map_words, sink=sink_map, valid=map_valid,
            ready=map_ready, framing_error=map_error,
        ),
        stream_gate(
            clk, rst, start, words=config.delta_words, sink=sink_delta, valid=delta_valid,
            ready=delta_ready, framing_error=delta_error,
        ),
        grid_walk(
            clk, rst, start, advance=advance, config=GridConfig.within(config, design),
            place=place, design=design,
        ),
    )  # fmt: skip
    slide: Any = _wire(sink_map.data, copy=window)
    if k > 1:
        slide = tap_line(
            clk, start, advance=advance, columns=config.grid_columns, sink=sink_map.data,
            window=window, params=design.line, step=config.step,
        )  # fmt: skip
    mask = [
        masked_tap(
            clk, row_on=place.rows(tap // k), column_on=place.columns(tap % k),
            tap=window(g * line + (tap + 1) * width, g * line + tap * width),
            kept=kept[g * taps + tap],
        )
        for g in range(lanes)
        for tap in range(taps)
    ]  # fmt: skip
    compute = gradient_array(
        clk, rst, clear=fresh, issue=issue, windows=masked, deltas=deltas, places=places,
        turn=turn, sums=sums, design=design,
    )  # fmt: skip
    read = (
        valid_delay(clk, rst, d=ended, q=settled, cycles=drain.settle - 1),
        gradient_drain(
            clk, rst, ended=ended, settled=settled, room=room,
            of_pass=PassPlace(
                opens=place.opens, last_block=place.last_block, last_maps=config.last_maps
            ),
            turn=turn, progress=DrainProgress(held=held, stuck=stuck, leaves=leaves),
            read=DrainRead(places=places, elements=elements, gives=gives), design=design,
        ),
        gradient_tree(clk, sums=sums, elements=elements, gradient=gradient, design=design),
        valid_delay(clk, rst, d=gives, q=push, cycles=drain.latency),
    )  # fmt: skip
    leave = (
        _reserve(
            clk, clear, gives=gives, source=source, room=room, words=drain.fifo_words,
            at_once=drain.elements,
        ),
        credit_source(
            clk, clear, total=config.gradient_words, taken=gives, room=flag(), push=push,
            data=gradient, source=source, words=drain.fifo_words,
        ),
    )  # fmt: skip
    return (
        move, judge, show, keep, gather, begin, tell, follow, intake, slide, mask, compute, read,
        leave,
    )  # fmt: skip
