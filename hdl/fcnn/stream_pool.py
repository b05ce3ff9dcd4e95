"""Maximum pooling and activation of maps that stream through, one element of each lane per beat.

Source: F-CNN, section II, equation 2, and section III: a pooling module, whose scheduler buffers
rows. The activation follows the pooling, so that one in each lane suffices.
"""

from __future__ import annotations

from typing import Any

from myhdl import ConcatSignal, always, always_comb, block

from merp.hdl.arithmetic.relu import relu
from merp.hdl.arithmetic.relu_mask import relu_mask
from merp.hdl.arithmetic.tanh import tanh
from merp.hdl.base.delay import delay
from merp.hdl.base.signals import BYTE, Stream, bits, flag
from merp.hdl.base.valid_delay import valid_delay
from merp.hdl.conversion.entity import Bit, Word, entity
from merp.hdl.fcnn.pool_counters import PoolProgress
from merp.hdl.fcnn.pool_walk import PoolConfig, PoolPlace, pool_walk
from merp.hdl.fcnn.pool_window import pool_window
from merp.hdl.streams.credit_fifo import credit_fifo
from merp.hdl.streams.credit_gate import credit_gate
from merp.hdl.streams.run_span import run_span
from merp.models.machines.fcnn.params.pool_design import PoolDesign


class Result:
    """A result that arrives in a cycle with ``push``; ``last``: it is the last one of the run."""

    def __init__(self, push: Bit, last: Bit, data: Word) -> None:
        self.push, self.last, self.data = push, last, data


@block
def result_port(
    clk: Bit,
    rst: Bit,
    start: Bit,
    taken: Bit,
    some: Bit,
    result: Result,
    source: Stream,
    sent: Bit,
    places: int,
) -> Any:
    """Send results whose places were reserved.

    taken   in   pulse: a place is reserved for a result that will arrive
    some    out  a place is free
    result  in   the result
    sent    out  the last one was transferred, until start

    Reset: empty, every place free.
    """
    width = len(result.data)
    entry, head = bits(width + 1), bits(width + 1)
    joined = ConcatSignal(result.last, result.data)
    credit, valid = flag(), flag()

    @always_comb
    def join() -> None:
        entry.next = joined

    @always_comb
    def offer() -> None:
        source.data.next = head[width:]
        source.last.next = head[width]
        source.valid.next = valid

    @always(clk.posedge)
    def follow() -> None:
        if valid and source.ready and head[width]:
            sent.next = True
        if start or rst:
            sent.next = False

    return (
        join, offer, follow,
        credit_gate(clk, rst, taken=taken, freed=credit, some=some, places=places),
        credit_fifo(
            clk, rst, push=result.push, data=entry, head=head, head_valid=valid, take=source.ready,
            credit=credit, words=places,
        ),
    )  # fmt: skip


@block
def _activated(clk: Bit, x: Word, y: Word, design: PoolDesign) -> Any:
    """Apply the activation to the element of a lane, activation_latency cycles later."""
    if design.activation == "tanh":
        return tanh(clk, x=x, y=y, fmt=design.fmt)
    return relu(enable=flag(design.activation == "relu"), x=x, y=y)


@block
def _state_byte(coded: Word, state: Word, design: PoolDesign) -> Any:
    """Make the byte of a maximum: the mask of ReLU, and the position above it."""
    width, whole = design.fmt.width, design.coded_width
    positive = flag(1)
    mask: Any = ()
    if design.activation == "relu":
        positive = flag()
        mask = relu_mask(x=coded(width, 0), y=positive, fmt=design.fmt)
    if not design.pools:

        @always_comb
        def extend() -> None:
            state.next = 0
            state.next[0] = positive

        return extend, mask

    code = coded(whole, width)
    joined = ConcatSignal(code, positive)

    @always_comb
    def join() -> None:
        state.next = joined

    return join, mask


@block
def _results(clk: Bit, coded: Word, data: Word, states: Word, design: PoolDesign) -> Any:
    """Compute all lanes of a result; states are in step with data."""
    width, whole = design.fmt.width, design.coded_width
    values = [bits(width) for _ in range(design.lanes)]
    parts: list[Any] = []
    for lane, value in enumerate(values):
        x = coded(lane * whole + width, lane * whole)
        parts.append(_activated(clk, x=x, y=value, design=design))
    together = ConcatSignal(*reversed(values)) if design.lanes > 1 else values[0]

    @always_comb
    def join() -> None:
        data.next = together

    parts.append(join)
    if not design.keeps_state:
        return parts
    bytes_of = [bits(BYTE) for _ in range(design.lanes)]
    for lane, state in enumerate(bytes_of):
        both = coded((lane + 1) * whole, lane * whole)
        parts.append(_state_byte(coded=both, state=state, design=design))
    collected = ConcatSignal(*reversed(bytes_of)) if design.lanes > 1 else bytes_of[0]
    now = bits(len(states)) if design.activation_latency else states

    @always_comb
    def collect() -> None:
        now.next = collected

    parts.append(collect)
    if design.activation_latency:
        parts.append(delay(clk, d=now, q=states, cycles=design.activation_latency))
    return parts


@entity
def stream_pool(
    clk: Bit,
    rst: Bit,
    start: Bit,
    config: PoolConfig,
    sink: Stream,
    source: Stream,
    progress: PoolProgress,
    design: PoolDesign,
    state: Stream | None = None,
) -> Any:
    """Pool maps by their maxima, and apply the activation to each maximum.

    start     in   pulse: a run begins; registers are stable from here to done
    sink      in   maps: an element of each lane per beat, lane 0 lowest; map, row, column, beat
    source    out  pooled maps, in the same order
    state     out  (with pooling or ReLU) a byte for each element of source. Bit 0 is the mask of
                   ReLU, x > 0, or 1 without ReLU. Above it is the position of the maximum in its
                   window, row * window + column.
    progress  out  events of this cycle, for the counters of a run

    The first maximum in raster order wins ties, -0 equals +0, and the first NaN wins over
    everything. Rows and columns that no window covers are taken and dropped. Latency:
    forward_latency + 2 cycles from the last element of a window to its result at the port.
    Throughput: a beat per cycle. Reset: no run.
    """
    if design.keeps_state != (state is not None):
        raise ValueError(f"presence of state must equal {design.keeps_state}, as design says")
    place, coded = PoolPlace(design), bits(design.lanes * design.coded_width)
    advance, taken, push, last, walking = (flag() for _ in range(5))
    room, map_room, map_sent = flag(), flag(), flag()
    data, states = bits(design.map_width), bits(design.lanes * BYTE)

    @always_comb
    def look() -> None:
        sink.ready.next = walking and (room or not place.closes)
        advance.next = sink.valid and walking and (room or not place.closes)
        taken.next = sink.valid and walking and room and place.closes

    @always_comb
    def tell() -> None:
        progress.issue.next = advance
        progress.useful.next = place.inside
        progress.blocked.next = place.closes and not room

    parts: list[Any] = [
        look, tell,
        run_span(
            clk, rst, start, taken=advance, last=sink.last, final=place.final, taking=walking,
            complete=progress.over, framing_error=progress.framing_error,
        ),
        pool_walk(clk, start, advance=advance, config=config, place=place, design=design),
        valid_delay(clk, rst, d=taken, q=push, cycles=design.forward_latency),
        delay(clk, d=place.ends, q=last, cycles=design.forward_latency),
        _results(clk, coded=coded, data=data, states=states, design=design),
        result_port(
            clk, rst, start, taken=taken, some=map_room, result=Result(push, last, data),
            source=source, sent=map_sent, places=design.forward_places,
        ),
    ]  # fmt: skip
    if design.pools:
        parts.append(
            pool_window(
                clk, advance=advance, beat=sink.data, place=place, coded=coded, design=design
            )
        )
    else:
        parts.append(delay(clk, d=sink.data, q=coded, cycles=1))
    if state is None:

        @always_comb
        def finish() -> None:
            room.next = map_room
            progress.done.next = map_sent and progress.over

        return *parts, finish

    state_room, state_sent = flag(), flag()

    @always_comb
    def finish_both() -> None:
        room.next = map_room and state_room
        progress.done.next = map_sent and state_sent and progress.over

    return (
        *parts, finish_both,
        result_port(
            clk, rst, start, taken=taken, some=state_room, result=Result(push, last, states),
            source=state, sent=state_sent, places=design.forward_places,
        ),
    )  # fmt: skip
