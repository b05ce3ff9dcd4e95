"""Convolution of streamed maps: several kernels see the windows of several images at once.

Source: F-CNN section IV, the convolution module. A pass adds one input map to the sums of a block
of output maps. The sums leave for the memory after each pass, and come back with the next one.
"""

from __future__ import annotations

from typing import Any, ClassVar

from myhdl import ConcatSignal, always, always_comb, block

from merp.hdl.arithmetic.cu_tree import cu_tree
from merp.hdl.arithmetic.fp_add import fp_add
from merp.hdl.base.delay import delay
from merp.hdl.base.interface import DesignPorts, Member
from merp.hdl.base.masked_tap import masked_tap
from merp.hdl.base.registers import RegisterBundle
from merp.hdl.base.signals import Stream, bits, flag
from merp.hdl.base.tap_line import tap_line
from merp.hdl.base.valid_delay import valid_delay
from merp.hdl.conversion.entity import Bit, Word, entity
from merp.hdl.fcnn.grid_walk import GridConfig, GridPlace, grid_walk
from merp.hdl.fcnn.kernel_pair import RunSets, SetSize, kernel_pair
from merp.hdl.streams.credit_fifo import credit_fifo
from merp.hdl.streams.credit_gate import credit_gate
from merp.models.machines.fcnn.params.conv_registers import CONV, ConvDesign
from merp.models.machines.fcnn.params.stream_design import StreamDesign


class ConvConfig(RegisterBundle):
    """Run-time registers of a convolution module, from the table ``CONV``."""

    def __init__(self, design: StreamDesign) -> None:
        super().__init__(CONV, design)


class ConvStreams(DesignPorts[StreamDesign]):
    """Streams of a convolution module."""

    MEMBERS: ClassVar[tuple[Member[Any], ...]] = (
        Member("sink_map", lambda design: Stream(design.map_width), kind=Stream),
        Member("sink_kernel", lambda design: Stream(design.fmt.width), kind=Stream),
        Member("sink_bias", lambda design: Stream(design.fmt.width), kind=Stream),
        Member("sink_partial", lambda design: Stream(design.sum_width), kind=Stream),
        Member("source", lambda design: Stream(design.sum_width), kind=Stream),
    )


class ConvActivity:
    """Activity of a module in a cycle of a run; exactly one of the first six is high.

    issue          a beat of the walk is taken
    stall_kernel   the pass waits for its kernels or biases
    stall_input    the beat waits for its elements of the map
    stall_partial  the beat waits for its partial sums
    stall_output   the beat waits for a place for its sums
    drain          the walk is over
    useful         a beat is taken whose windows give sums
    """

    def __init__(self) -> None:
        self.issue, self.stall_kernel, self.stall_input = flag(), flag(), flag()
        self.stall_partial, self.stall_output = flag(), flag()
        self.drain, self.useful = flag(), flag()


@block
def _joined(parts: list[Any], word: Word) -> Any:
    """Join parts to a word; the first one is lowest."""
    joined: Any = ConcatSignal(*reversed(parts)) if len(parts) > 1 else parts[0]

    @always_comb
    def join() -> None:
        word.next = joined

    return join


@block
def _windows(
    clk: Bit, place: GridPlace, window: Word, masked: list[Any], design: StreamDesign
) -> Any:
    """Mask the window of each lane and register it."""
    k, width = design.k, design.fmt.width
    lanes = []
    for g in range(design.lanes):
        taps = [bits(width) for _ in range(design.taps)]
        low = g * design.window_width
        lanes += [
            _joined(parts=taps, word=masked[g]),
            [
                masked_tap(
                    clk, row_on=place.rows(tap // k), column_on=place.columns(tap % k),
                    tap=window(low + (tap + 1) * width, low + tap * width), kept=taps[tap],
                )
                for tap in range(design.taps)
            ],
        ]  # fmt: skip
    return lanes


@block
def _begin_sum(continues: Bit, biased: Bit, partial: Word, bias: Word, begin: Word) -> Any:
    """Select what a product is added to: a partial sum, a bias or +0."""

    @always_comb
    def choose() -> None:
        if continues:
            begin.next = partial
        elif biased:
            begin.next = bias
        else:
            begin.next = 0

    return choose


@block
def _unit(
    clk: Bit,
    window: Word,
    kernel: Word,
    continues: Bit,
    biased: Bit,
    partial: Word,
    bias: Word,
    total: Word,
    design: StreamDesign,
) -> Any:
    """Add the sum of products of a window to its partial sum, its bias or +0."""
    width = design.fmt.width
    own_kernel, products = bits(design.window_width), bits(width)
    begin, aligned = bits(width), bits(width)

    @always_comb
    def select() -> None:
        own_kernel.next = kernel

    return (
        select,
        _begin_sum(continues=continues, biased=biased, partial=partial, bias=bias, begin=begin),
        cu_tree(clk, window=window, kernel=own_kernel, y=products, design=design),
        delay(clk, d=begin, q=aligned, cycles=design.cu_latency),
        fp_add(
            clk, a=aligned, b=products, y=total, fmt=design.fmt, latency=design.add_latency
        ),
    )  # fmt: skip


@block
def _present(short: Bit, maps: Word, sums: Word, kept: Word, at: int) -> Any:
    """Replace the sums of map ``at`` by +0 if a short block does not have it.

    short  in   the block has only so many maps; otherwise all
    """

    @always_comb
    def choose() -> None:
        kept.next = sums
        if short and maps <= at:
            kept.next = 0

    return choose


@block
def _collect(
    clk: Bit,
    place: GridPlace,
    totals: list[Any],
    last_maps: Word,
    word: Word,
    design: StreamDesign,
) -> Any:
    """Join the sums of a beat; above them, whether it is the last one, and whether it comes back.

    totals  in   sums, of map 0 first; of the windows of ``place``, compute_latency cycles later
    """
    lanes, maps = design.lanes, design.maps_at_once
    sums, kept = ([bits(design.map_width) for _ in range(maps)] for _ in range(2))
    about, about_sum = bits(3), bits(3)  # of a beat: last of the run, comes back, last block
    short, about_word = flag(), bits(2)

    @always_comb
    def describe() -> None:
        about.next[0] = place.final
        about.next[1] = not place.closes
        about.next[2] = place.last_block

    @always_comb
    def split() -> None:
        short.next = about_sum[2]
        about_word.next = about_sum[2:]

    return (
        describe, split,
        delay(clk, d=about, q=about_sum, cycles=ConvDesign(design).compute_latency),
        [
            (
                _joined(parts=totals[j * lanes : (j + 1) * lanes], word=sums[j]),
                _present(short=short, maps=last_maps, sums=sums[j], kept=kept[j], at=j),
            )
            for j in range(maps)
        ],
        _joined(parts=[*kept, about_word], word=word),
    )  # fmt: skip


@block
def _send(
    clk: Bit,
    rst: Bit,
    issue: Bit,
    room: Bit,
    word: Word,
    source: Stream,
    leaves: Bit,
    design: StreamDesign,
) -> Any:
    """Send the sums of a beat, for which a place is reserved when the beat is taken.

    issue   in   a beat is taken that has sums
    room    out  there is a place for them
    word    in   the sums, compute_latency cycles after issue, with what ``_collect`` adds
    leaves  out  sums leave that come back
    """
    conv, top = ConvDesign(design), design.sum_width
    push, credit, head_valid, head = flag(), flag(), flag(), bits(top + 2)

    @always_comb
    def hand_out() -> None:
        source.data.next = head[top:]
        source.last.next = head[top]
        source.valid.next = head_valid

    @always_comb
    def leave() -> None:
        leaves.next = head_valid and source.ready and head[top + 1]

    return (
        hand_out, leave,
        valid_delay(clk, rst, d=issue, q=push, cycles=conv.compute_latency),
        credit_gate(clk, rst, taken=issue, freed=credit, some=room, places=conv.fifo_words),
        credit_fifo(
            clk, rst, push=push, data=word, head=head, head_valid=head_valid, take=source.ready,
            credit=credit, words=conv.fifo_words,
        ),
    )  # fmt: skip


@block
def _returns_left(
    clk: Bit, rst: Bit, start: Bit, left: Bit, taken: Bit, some: Bit, most: int
) -> Any:
    """Count the sums that left and whose partial sums did not come back yet.

    left, taken  in   a sum that comes back has left; such a partial sum is taken
    some         out  there are any
    """
    number = bits(most.bit_length())

    @always(clk.posedge)
    def tally() -> None:
        if left and not taken:
            number.next = number + 1
            some.next = True
        elif taken and not left:
            number.next = number - 1
            some.next = number != 1
        if start or rst:
            number.next = 0
            some.next = False

    return tally


@entity
def stream_conv(
    clk: Bit,
    rst: Bit,
    start: Bit,
    config: ConvConfig,
    streams: ConvStreams,
    activity: ConvActivity,
    framing_error: Bit,
    design: StreamDesign,
) -> Any:
    """Convolve maps with kernels: a beat of several images, for several output maps, per cycle.

    start          in   pulse: a run begins; registers are stable until its last word
    sink_map       in   maps: block, input map, row, column, beat; an element of each lane
    sink_kernel    in   kernel elements: block, input map, map of the block, row, column
    sink_bias      in   the bias of each output map, if biased
    sink_partial   in   sums of the pass before; in the first pass of a block only if begun
    source         out  sums of each pass: an element of each lane and map, map 0 lowest
    activity       out  whether this cycle has a beat, or why it has none
    framing_error  out  last arrived with a wrong word of an input; high until the next start

    The sums of a missing map of a short last block are +0. A tap outside the map is +0 and is
    multiplied like any other. A partial sum is taken only after the sum that it repeats has left.
    Therefore the memory may be of any kind. Latency: 1 + cu_latency + add_latency + 2 cycles from
    the beat that completes a window to its sums. Throughput: a beat per cycle, if a pass is longer
    than the latency and than the load of its kernels. A beat moves only with its input, its partial
    sums and a place for its sums. Reset: no run.
    """
    width, lanes, maps = design.fmt.width, design.lanes, design.maps_at_once
    sink_map, sink_partial, place = streams.sink_map, streams.sink_partial, GridPlace(design)
    advance, free, issue = flag(), flag(), flag()
    kernel_swap, kernel_loaded, kernel_error = flag(), flag(), flag()
    bias_swap, bias_loaded, bias_error = flag(), flag(), flag()
    prepared, wants, allowed, map_there, partial_there = (flag() for _ in range(5))
    takes_partial, repeats, leaves, ahead, room = (flag() for _ in range(5))
    late_map, late_partial = flag(), flag()
    beat, window = bits(design.map_width), bits(design.lanes * design.window_width)
    masked = [bits(design.window_width) for _ in range(lanes)]
    kernels, biases = bits(maps * design.window_width), bits(maps * width)
    partial, continues = bits(design.sum_width), flag()
    totals = [bits(width) for _ in range(maps * lanes)]
    word = bits(design.sum_width + 2)

    @always_comb
    def need() -> None:
        wants.next = place.counts and (config.begun or not place.opens)
        allowed.next = place.opens or ahead
        prepared.next = not place.begins or (
            kernel_loaded and (bias_loaded or not config.biased or not place.opens)
        )

    @always_comb
    def arrive() -> None:
        map_there.next = not place.takes or sink_map.valid
        partial_there.next = not wants or (allowed and sink_partial.valid)
        free.next = place.walking and prepared and (room or not place.counts)

    @always_comb
    def move() -> None:
        advance.next = free and map_there and partial_there
        issue.next = free and map_there and partial_there and place.counts
        sink_map.ready.next = free and partial_there and place.takes
        sink_partial.ready.next = free and map_there and wants and allowed

    @always_comb
    def swap() -> None:
        kernel_swap.next = advance and place.begins
        bias_swap.next = advance and place.begins and place.opens and config.biased
        takes_partial.next = advance and wants
        repeats.next = advance and wants and not place.opens

    @always_comb
    def fill() -> None:
        beat.next = 0
        if place.takes:
            beat.next = sink_map.data

    @always(clk.posedge)
    def hold() -> None:
        partial.next = sink_partial.data
        continues.next = wants

    @always(clk.posedge)
    def check() -> None:
        if advance and place.takes and sink_map.last != place.last_input:
            late_map.next = True
        if takes_partial and sink_partial.last != place.final:
            late_partial.next = True
        if start or rst:
            late_map.next = False
            late_partial.next = False

    @always_comb
    def complain() -> None:
        framing_error.next = late_map or late_partial or kernel_error or bias_error

    @always_comb
    def tell() -> None:
        activity.issue.next = advance
        activity.useful.next = issue
        activity.stall_kernel.next = place.walking and not prepared
        activity.stall_input.next = place.walking and prepared and not map_there
        activity.stall_partial.next = place.walking and prepared and map_there and not partial_there
        activity.stall_output.next = (
            place.walking and prepared and map_there and partial_there and not free
        )
        activity.drain.next = not place.walking

    walk = grid_walk(
        clk, rst, start, advance=advance, config=GridConfig.within(config, design), place=place,
        design=design,
    )  # fmt: skip
    load = (
        kernel_pair(
            clk, rst, start,
            sets=RunSets(
                enable=flag(1), inputs=config.inputs, blocks=config.blocks,
                last_maps=config.last_maps,
            ),
            sink=streams.sink_kernel, swap=kernel_swap, loaded=kernel_loaded, kernels=kernels,
            framing_error=kernel_error, size=SetSize(maps, design.taps, width),
        ),
        kernel_pair(
            clk, rst, start,
            sets=RunSets(
                enable=config.biased, inputs=bits(1, 1), blocks=config.blocks,
                last_maps=config.last_maps,
            ),
            sink=streams.sink_bias, swap=bias_swap, loaded=bias_loaded, kernels=biases,
            framing_error=bias_error, size=SetSize(maps, 1, width),
        ),
    )  # fmt: skip
    line: Any = _joined(parts=[beat], word=window)
    if design.k > 1:
        line = tap_line(
            clk, start, advance=advance, columns=config.grid_columns, sink=beat, window=window,
            params=design.line, step=config.step if design.max_step > 1 else None,
        )  # fmt: skip
    units = [
        _unit(
            clk, window=masked[g],
            kernel=kernels((j + 1) * design.window_width, j * design.window_width),
            continues=continues, biased=config.biased,
            partial=partial((j * lanes + g + 1) * width, (j * lanes + g) * width),
            bias=biases((j + 1) * width, j * width), total=totals[j * lanes + g], design=design,
        )
        for j in range(maps)
        for g in range(lanes)
    ]  # fmt: skip
    collect = _collect(
        clk, place=place, totals=totals, last_maps=config.last_maps, word=word, design=design
    )
    send = _send(
        clk, rst, issue=issue, room=room, word=word, source=streams.source, leaves=leaves,
        design=design,
    )  # fmt: skip
    returns = _returns_left(
        clk, rst, start, left=leaves, taken=repeats, some=ahead,
        most=design.max_rows * design.max_columns * design.max_step,
    )  # fmt: skip
    return (
        need, arrive, move, swap, fill, hold, check, complain, tell, walk, load, line,
        _windows(clk, place=place, window=window, masked=masked, design=design), units, collect,
        send, returns,
    )  # fmt: skip
