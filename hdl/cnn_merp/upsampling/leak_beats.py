"""Leaky ReLU in backward propagation, on beats of several deltas."""

from __future__ import annotations

from typing import Any

from myhdl import ConcatSignal, always_comb, block

from merp.hdl.arithmetic.fp_mul import fp_mul
from merp.hdl.base.delay import delay
from merp.hdl.base.signals import Stream, bits, flag
from merp.hdl.base.valid_delay import valid_delay
from merp.hdl.cnn_merp.ports.deltas import UnpoolConfig
from merp.hdl.conversion.entity import Bit, Word, entity
from merp.hdl.streams.credit_fifo import credit_fifo
from merp.hdl.streams.credit_gate import credit_gate
from merp.models.base.latencies import CREDIT_RETURN
from merp.models.machines.cnn_merp.params.unpool_design import UnpoolDesign


@block
def _left(leaky: Bit, product: Word, y: Word) -> Any:
    """Replace a product by +0 if ReLU is not leaky."""

    @always_comb
    def leave() -> None:
        y.next = 0
        if leaky:
            y.next = product

    return leave


@entity
def leak_beats(
    clk: Bit,
    clear: Bit,
    config: UnpoolConfig,
    sink: Stream,
    source: Stream,
    masked: Word,
    design: UnpoolDesign,
) -> Any:
    """Pass beats on, each with the words that take the place of deltas whose mask bit is clear.

    clear   in   drop the beats that are on their way
    sink    in   beats of deltas, the first lowest; with keep
    source  out  the same beats
    masked  out  with a beat: each delta times the slope, or +0 if ReLU is not leaky

    Latency: mul_latency and two cycles. Throughput: a beat per cycle. Reset: none, begin with
    clear.
    """
    width, size = design.fmt.width, len(sink.data)
    lanes = range(size // width)
    kept = size + len(sink.keep)
    places = design.mul_latency + CREDIT_RETURN
    room, accept, push, credit = flag(), flag(), flag(), flag()
    products = [bits(width) for _ in lanes]
    left = [bits(width) for _ in lanes]
    offered, waited = bits(kept + 1), bits(kept + 1)
    both, head = bits(kept + 1 + size), bits(kept + 1 + size)
    beat = ConcatSignal(sink.last, sink.keep, sink.data)
    joined = ConcatSignal(*reversed(left), waited)

    @always_comb
    def permit() -> None:
        sink.ready.next = room
        accept.next = sink.valid and room

    @always_comb
    def offer() -> None:
        offered.next = beat

    @always_comb
    def join() -> None:
        both.next = joined

    @always_comb
    def present() -> None:
        source.data.next = head[size:]
        source.keep.next = head[kept:size]
        source.last.next = head[kept]
        masked.next = head[kept + 1 + size : kept + 1]

    multipliers = [
        fp_mul(
            clk,
            a=sink.data((lane + 1) * width, lane * width),
            b=config.slope,
            y=products[lane],
            fmt=design.fmt,
            latency=design.mul_latency,
        )
        for lane in lanes
    ]
    choices = [_left(leaky=config.leaky, product=products[lane], y=left[lane]) for lane in lanes]
    return (
        permit,
        offer,
        multipliers,
        choices,
        credit_gate(clk, clear, taken=accept, freed=credit, some=room, places=places),
        valid_delay(clk, clear, d=accept, q=push, cycles=design.mul_latency),
        delay(clk, d=offered, q=waited, cycles=design.mul_latency),
        join,
        credit_fifo(
            clk,
            clear,
            push=push,
            data=both,
            head=head,
            head_valid=source.valid,
            take=source.ready,
            credit=credit,
            words=places,
        ),
        present,
    )
