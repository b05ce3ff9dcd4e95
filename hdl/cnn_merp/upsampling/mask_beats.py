"""ReLU' without pooling, on beats of several deltas.

A design for leaky ReLU multiplies every delta first, which takes mul_latency + 2 cycles more.
"""

from __future__ import annotations

from typing import Any

from myhdl import ConcatSignal, always_comb, block

from merp.hdl.base.signals import Stream, beats, bits, count, flag
from merp.hdl.cnn_merp.ports.deltas import UnpoolConfig
from merp.hdl.cnn_merp.upsampling.leak_beats import leak_beats
from merp.hdl.conversion.entity import Bit, Word, entity
from merp.hdl.streams.bit_unpacker import bit_unpacker
from merp.hdl.streams.stream_gate import stream_gate
from merp.models.machines.cnn_merp.params.unpool_design import UnpoolDesign


@block
def _masked(x: Word, passes: Bit, relu: Bit, y: Word, other: Word) -> Any:
    """Pass a delta, or replace it by another word, or by +0, if its mask bit is clear."""
    if other is None:

        @always_comb
        def mask() -> None:
            y.next = x
            if relu and not passes:
                y.next = 0

        return mask

    @always_comb
    def leak() -> None:
        y.next = other
        if passes or not relu:
            y.next = x

    return leak


@block
def _either(a: Bit, b: Bit, y: Bit) -> Any:
    """Check whether one of two flags is set."""

    @always_comb
    def join() -> None:
        y.next = a or b

    return join


@entity
def mask_beats(
    clk: Bit,
    rst: Bit,
    start: Bit,
    config: UnpoolConfig,
    sink: Stream,
    sink_state: Stream,
    source: Stream,
    framing_error: Bit,
    width: int,
    leak: UnpoolDesign | None = None,
) -> Any:
    """Apply ReLU' to deltas at the resolution of the sums, a beat at a time.

    start          in   pulse; config is stable from here to the last beat
    sink           in   beats of deltas of width bits, the first lowest; with keep
    sink_state     in   with ReLU: bytes of mask bits, one bit for each delta, the lowest bit of a
                        byte first
    source         out  the beats with ReLU' applied
    framing_error  out  last arrived with a byte other than the final one; until start

    Each beat takes as many mask bits as it has places. This number divides a byte, so the bits of a
    last beat with fewer deltas are available, too. Latency: combinational from a beat, a cycle from
    the byte of its bits. Throughput: a beat per cycle. Reset: the run is abandoned.
    """
    lanes = len(sink.data) // width
    others: list[Any] = [None] * lanes
    leaking: Any = None
    if leak is not None:
        arrived, sink, left = sink, beats(sink), bits(len(sink.data))
        others = [left((lane + 1) * width, lane * width) for lane in range(lanes)]
        clear = flag()
        beginning = _either(start, rst, clear)
        multiplied = leak_beats(
            clk, clear, config=config, sink=arrived, source=sink, masked=left, design=leak
        )
        leaking = beginning, multiplied
    valid, ready = flag(), flag()
    field, field_valid, take = bits(lanes), flag(), flag()
    field_bits = count(lanes)
    masked = [bits(width) for _ in range(lanes)]
    joined = ConcatSignal(*reversed(masked))

    @always_comb
    def measure() -> None:
        field_bits.next = 0
        if config.relu:
            field_bits.next = lanes

    @always_comb
    def hand_on() -> None:
        source.data.next = joined
        source.keep.next = sink.keep
        source.last.next = sink.last
        source.valid.next = sink.valid and field_valid
        sink.ready.next = source.ready and field_valid
        take.next = sink.valid and source.ready and field_valid

    masks = [
        _masked(
            x=sink.data((lane + 1) * width, lane * width),
            passes=field(lane),
            relu=config.relu,
            y=masked[lane],
            other=others[lane],
        )
        for lane in range(lanes)
    ]
    gate = stream_gate(
        clk,
        rst,
        start,
        words=config.state_bytes,
        sink=sink_state,
        valid=valid,
        ready=ready,
        framing_error=framing_error,
    )
    unpacker = bit_unpacker(
        clk,
        start,
        data=sink_state.data,
        data_valid=valid,
        data_ready=ready,
        field_bits=field_bits,
        field=field,
        field_valid=field_valid,
        take=take,
    )
    if leaking is not None:
        return measure, hand_on, masks, gate, unpacker, leaking
    return measure, hand_on, masks, gate, unpacker
