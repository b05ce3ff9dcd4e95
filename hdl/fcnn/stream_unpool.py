"""Un-pooling of maxima and the derivative of the activation, of deltas that stream through.

Source: F-CNN, section II, equations 5 to 7. A maximum writes its delta to its own position; the
paper copies it to the whole window, which is the rule of average pooling.
"""

from __future__ import annotations

from typing import Any

from myhdl import ConcatSignal, always, always_comb, block

from merp.hdl.base.delay import delay
from merp.hdl.base.dual_port_ram import dual_port_ram
from merp.hdl.base.signals import BYTE, Stream, bits, flag
from merp.hdl.base.valid_delay import valid_delay
from merp.hdl.conversion.entity import Bit, Word, entity
from merp.hdl.fcnn.delta_intake import delta_lanes
from merp.hdl.fcnn.pool_counters import PoolProgress
from merp.hdl.fcnn.pool_walk import FcnnUnpoolConfig, PoolPlace, pool_walk
from merp.hdl.fcnn.stream_pool import Result, result_port
from merp.hdl.streams.credit_fifo import credit_fifo
from merp.hdl.streams.credit_gate import credit_gate
from merp.hdl.streams.head import Head
from merp.hdl.streams.run_span import run_span
from merp.models.machines.fcnn.params.pool_design import PoolDesign


@block
def _all_valid(streams: list[Stream], there: Bit) -> Any:
    """Check whether every stream offers a word."""
    valids = ConcatSignal(*(stream.valid for stream in streams))
    every = (1 << len(streams)) - 1

    @always_comb
    def look() -> None:
        there.next = valids == every

    return look


@block
def _any_of(flags: list[Bit], some: Bit) -> Any:
    every = ConcatSignal(*flags)

    @always_comb
    def look() -> None:
        some.next = every != 0

    return look


@block
def _take(there: Bit, room: Bit, taking: Bit, taken: Bit) -> Any:
    @always_comb
    def meet() -> None:
        taken.next = there and room and taking

    return meet


@block
def _follow(taken: Bit, ready: Bit) -> Any:
    @always_comb
    def follow() -> None:
        ready.next = taken

    return follow


@block
def _joined_streams(
    clk: Bit,
    rst: Bit,
    start: Bit,
    words: Word,
    streams: list[Stream],
    room: Bit,
    taken: Bit,
    framing_error: Bit,
) -> Any:
    """Take a word of every stream in the same cycle, words times.

    room   in   a place is free for the result
    taken  out  the words are taken in this cycle

    Reset: no word is left.
    """
    several = len(streams) > 1
    there, taking, final, left = flag(), flag(), flag(), bits(len(words))
    errors = [flag() if several else framing_error for _ in streams]
    parts: list[Any] = []
    if several:
        parts += [
            _all_valid(streams=streams, there=there),
            _any_of(flags=errors, some=framing_error),
        ]
    else:
        there = streams[0].valid

    @always_comb
    def look() -> None:
        final.next = left == 1

    @always(clk.posedge)
    def tally() -> None:
        if taken:
            left.next = left - 1
        if start:
            left.next = words

    spans = [
        run_span(
            clk, rst, start, taken=taken, last=stream.last, final=final,
            taking=taking if stream is streams[0] else flag(), complete=flag(),
            framing_error=error,
        )
        for stream, error in zip(streams, errors, strict=True)
    ]  # fmt: skip
    return (
        *parts, look, tally, spans,
        _take(there=there, room=room, taking=taking, taken=taken),
        [_follow(taken=taken, ready=stream.ready) for stream in streams],
    )  # fmt: skip


@block
def _intake(
    clk: Bit,
    rst: Bit,
    start: Bit,
    words: Word,
    sink: Stream,
    state: Stream | None,
    maps: Stream | None,
    pooled: Head,
    framing_error: Bit,
    design: PoolDesign,
) -> Any:
    """Keep deltas in front of the activation for the walk.

    words   in   beats of the run
    pooled  out  the oldest delta with its position, for each lane
    """
    room, taken, credit = flag(), flag(), flag()
    coded = bits(len(pooled.word))
    states = bits(design.lanes * BYTE) if state is None else state.data
    results = bits(design.map_width) if maps is None else maps.data
    push, later = taken, []
    if design.slope_latency:
        push = flag()
        later.append(valid_delay(clk, rst, d=taken, q=push, cycles=design.slope_latency))
    return (
        later,
        _joined_streams(
            clk, rst, start, words=words,
            streams=[each for each in (sink, state, maps) if each is not None],
            room=room, taken=taken, framing_error=framing_error,
        ),
        delta_lanes(
            clk, deltas=sink.data, states=states, maps=results, coded=coded, design=design
        ),
        credit_gate(clk, rst, taken=taken, freed=credit, some=room, places=design.pooled_places),
        credit_fifo(
            clk, rst, push=push, data=coded, head=pooled.word, head_valid=pooled.valid,
            take=pooled.take, credit=credit, words=design.pooled_places,
        ),
    )  # fmt: skip


@block
def _spread_lane(inside: Bit, code: Word, coded: Word, y: Word, design: PoolDesign) -> Any:
    """Give the delta at the position of its maximum, and +0 elsewhere."""
    width, whole = design.fmt.width, design.coded_width
    own, value = coded(whole, width), coded(width, 0)

    @always_comb
    def choose() -> None:
        if inside and own == code:
            y.next = value
        else:
            y.next = 0

    return choose


@block
def _spread(clk: Bit, place: PoolPlace, pooled: Head, data: Word, design: PoolDesign) -> Any:
    """Spread pooled deltas over their windows; a memory keeps those of a row.

    pooled  in   belongs to the current beat if that is the first of its window
    data    out  a cycle later: the beat before pooling

    While the first beat of a window waits for its delta, it writes the word of the FIFO again and
    again. The last of these words is the delta. Throughput: a beat per cycle. Reset: none.
    """
    width, whole = design.fmt.width, design.coded_width
    size = len(pooled.word)
    kept, held, coded = bits(size), bits(size), bits(size)
    fresh, inside = flag(), flag()
    code = bits(design.code_bits)
    lanes = [bits(width) for _ in range(design.lanes)]
    together = ConcatSignal(*reversed(lanes)) if design.lanes > 1 else lanes[0]

    @always(clk.posedge)
    def hold() -> None:
        held.next = pooled.word
        fresh.next = place.first
        inside.next = place.inside
        code.next = place.code

    @always_comb
    def choose() -> None:
        if fresh:
            coded.next = held
        else:
            coded.next = kept

    @always_comb
    def join() -> None:
        data.next = together

    return (
        hold, choose, join,
        dual_port_ram(
            clk, write=place.first, write_addr=place.address, data=pooled.word,
            read_addr=place.address, word=kept, words=design.row_words,
        ),
        [
            _spread_lane(
                inside=inside, code=code, coded=coded((lane + 1) * whole, lane * whole), y=y,
                design=design,
            )
            for lane, y in enumerate(lanes)
        ],
    )  # fmt: skip


@entity
def stream_unpool(
    clk: Bit,
    rst: Bit,
    start: Bit,
    config: FcnnUnpoolConfig,
    sink: Stream,
    source: Stream,
    progress: PoolProgress,
    design: PoolDesign,
    state: Stream | None = None,
    maps: Stream | None = None,
) -> Any:
    """Expand the deltas of pooled maps to the size before pooling, in front of the activation.

    start     in   pulse: a run begins; registers are stable from here to done
    sink      in   deltas of the pooled maps: an element of each lane per beat, lane 0 lowest; map,
                   row, column, beat
    source    out  deltas before pooling, in the same order
    state     in   (with pooling or ReLU) a byte for each delta. Bit 0 is the mask of ReLU. Above it
                   is the position of the maximum.
    maps      in   (with tanh) the pooled maps, y = tanh(z)
    progress  out  events of this cycle, for the counters of a run

    ReLU: a delta whose mask is clear becomes +0. tanh: a delta is multiplied by (1 - y) (1 + y).
    Elements that are no maximum, or in no window, are +0. The inputs are taken in step. A memory
    keeps the deltas of a pooled row for all rows of their windows. Latency: slope_latency + 5
    cycles from a delta to the first element of its window. Throughput: a beat of source per cycle.
    Reset: no run.
    """
    if design.keeps_state != (state is not None):
        raise ValueError(f"presence of state must equal {design.keeps_state}, as design says")
    if design.keeps_map != (maps is not None):
        raise ValueError(f"presence of maps must equal {design.keeps_map}, as design says")
    place, pooled = PoolPlace(design), Head(design.lanes * design.coded_width)
    advance, needed, walking, room, push, last, final, sent = (flag() for _ in range(8))
    data = bits(design.map_width)

    @always_comb
    def look() -> None:
        needed.next = place.first and place.inside

    @always_comb
    def move() -> None:
        advance.next = walking and room and (pooled.valid or not needed)
        pooled.take.next = walking and room and pooled.valid and needed

    @always_comb
    def finish() -> None:
        final.next = advance and place.final
        progress.issue.next = advance
        progress.useful.next = place.inside
        progress.blocked.next = not room
        progress.over.next = not walking
        progress.done.next = sent

    @always(clk.posedge)
    def follow() -> None:
        push.next = advance
        last.next = final
        if final:
            walking.next = False
        if start:
            walking.next = True
        if rst:
            walking.next = False
            push.next = False

    if design.pools:
        spread = _spread(clk, place=place, pooled=pooled, data=data, design=design)
    else:
        spread = delay(clk, d=pooled.word, q=data, cycles=1)
    return (
        look, move, finish, follow, spread,
        _intake(
            clk, rst, start, words=config.words, sink=sink, state=state, maps=maps, pooled=pooled,
            framing_error=progress.framing_error, design=design,
        ),
        pool_walk(clk, start, advance=advance, config=config, place=place, design=design),
        result_port(
            clk, rst, start, taken=advance, some=room, result=Result(push, last, data),
            source=source, sent=sent, places=design.unpooled_places,
        ),
    )  # fmt: skip
