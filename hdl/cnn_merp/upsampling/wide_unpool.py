"""Un-pooling and ReLU' for streams with several deltas per beat.

A design for leaky ReLU has multipliers: in ``unpool``, and one for each delta of a beat without
pooling. There they take mul_latency + 2 cycles more.
"""

from __future__ import annotations

from typing import Any

from myhdl import ConcatSignal, always, always_comb, block

from merp.hdl.base.signals import Stream, beats, bits, flag
from merp.hdl.cnn_merp.ports.deltas import UnpoolConfig
from merp.hdl.cnn_merp.upsampling.mask_beats import mask_beats
from merp.hdl.cnn_merp.upsampling.unpool import unpool
from merp.hdl.conversion.entity import Bit, entity
from merp.hdl.streams.beat_splitter import beat_splitter
from merp.hdl.streams.head import Head
from merp.hdl.streams.stream_mux import stream_mux
from merp.hdl.streams.stream_slice import stream_slice
from merp.hdl.streams.wide_serializer import wide_serializer
from merp.models.machines.cnn_merp.params.unpool_design import UnpoolDesign


@block
def _fork(sink: Stream, second: Bit, one: Stream, other: Stream) -> Any:
    """Offer a stream to one of two readers."""

    @always_comb
    def choose() -> None:
        one.data.next = sink.data
        one.last.next = sink.last
        other.data.next = sink.data
        other.last.next = sink.last
        one.valid.next = sink.valid and not second
        other.valid.next = sink.valid and second
        if second:
            sink.ready.next = other.ready
        else:
            sink.ready.next = one.ready

    return choose


@block
def _registered(clk: Bit, rst: Bit, start: Bit, sink: Stream, held: Stream) -> Any:
    """Pass beats on through registers, so that no ready signal passes combinationally."""
    size = len(sink.data)
    kept = size + len(sink.keep)
    clear = flag()
    offered, taken = bits(kept + 1), bits(kept + 1)
    joined = ConcatSignal(sink.last, sink.keep, sink.data)

    @always_comb
    def offer() -> None:
        offered.next = joined
        clear.next = start or rst

    @always_comb
    def give() -> None:
        held.data.next = taken[size:]
        held.keep.next = taken[kept:size]
        held.last.next = taken[kept]

    between = stream_slice(
        clk,
        clear=clear,
        data=offered,
        valid=sink.valid,
        ready=sink.ready,
        held=taken,
        held_valid=held.valid,
        held_ready=held.ready,
    )
    return offer, give, between


@entity
def wide_unpool(
    clk: Bit,
    rst: Bit,
    start: Bit,
    config: UnpoolConfig,
    sink: Stream,
    sink_state: Stream,
    source: Stream,
    done: Bit,
    framing_error: Bit,
    design: UnpoolDesign,
) -> Any:
    """Behave as ``unpool``, on beats of several deltas without gaps, with keep.

    start          in   pulse; config is stable from here to done
    sink           in   pooled deltas in the order image, row, column, map
    sink_state     in   bytes of the ReLU/pooling masks (state kind pooled)
    source         out  deltas in the same order; last is set with the final beat of the run
    done           out  the final beat was transferred; until the next start
    framing_error  out  last arrived with a word other than the last of its stream; until start

    Latency: a cycle without pooling, or none in a design without pooling; with pooling, the latency
    of unpool and two cycles. Throughput: a beat per cycle without pooling; else an element. Reset:
    the run is abandoned.
    """
    width = design.fmt.width
    masks: dict[str, Any] = {"config": config, "width": width}
    if config.get("leaky") is not None:
        masks["leak"] = design

    @always(clk.posedge)
    def finish() -> None:
        if source.valid and source.ready and source.last:
            done.next = True
        if start or rst:
            done.next = False

    if design.window == 1:
        return finish, mask_beats(
            clk, rst, start, sink=sink, sink_state=sink_state, source=source,
            framing_error=framing_error, **masks,
        )  # fmt: skip
    held, plain, masked = beats(sink), beats(sink), beats(sink)
    plain_state = Stream(len(sink_state.data))
    whole, pooled_state, packed = Stream(len(sink.data)), Stream(len(sink_state.data)), beats(sink)
    single, expanded = Stream(width), Stream(width)
    pooled = flag()  # the run has pooling; stable until the next run starts
    closing = flag()
    left = bits(len(config.delta_words))  # pooled deltas left
    packed_done, expanded_done = flag(), flag()
    plain_error, pooled_error = flag(), flag()
    one = flag(1)
    beat = Head(width + 2)
    beat.valid, beat.take = expanded.valid, expanded.ready
    joined = ConcatSignal(expanded.last, one, expanded.data)

    @always_comb
    def tell() -> None:
        closing.next = left == 1
        plain.keep.next = held.keep
        beat.word.next = joined
        if pooled:
            source.keep.next = packed.keep
            framing_error.next = pooled_error
        else:
            source.keep.next = masked.keep
            framing_error.next = plain_error

    @always(clk.posedge)
    def tally() -> None:
        if single.valid and single.ready:
            left.next = left - 1
        if start:
            left.next = config.delta_words
            pooled.next = config.maximum or config.average

    return (
        finish,
        tell,
        tally,
        _registered(clk, rst, start, sink=sink, held=held),
        _fork(sink=held, second=pooled, one=plain, other=whole),
        _fork(sink=sink_state, second=pooled, one=plain_state, other=pooled_state),
        mask_beats(
            clk,
            rst,
            start,
            sink=plain,
            sink_state=plain_state,
            source=masked,
            framing_error=plain_error,
            **masks,
        ),
        beat_splitter(clk, rst, start, sink=whole, source=single, closing=closing),
        unpool(
            clk,
            rst,
            start,
            config=config,
            sink=single,
            sink_state=pooled_state,
            source=expanded,
            done=expanded_done,
            framing_error=pooled_error,
            design=design,
        ),
        wide_serializer(
            clk,
            rst,
            start,
            beat=beat,
            source=packed,
            sent=packed_done,
            width=width,
            lanes=1,
        ),
        stream_mux(second=pooled, one=masked, other=packed, source=source),
    )
