"""Leaky ReLU in backward propagation: each delta, and its product with the slope."""

from __future__ import annotations

from typing import Any

from myhdl import ConcatSignal, always_comb, block

from merp.hdl.arithmetic.fp_mul import fp_mul
from merp.hdl.base.delay import delay
from merp.hdl.base.signals import bits, flag
from merp.hdl.base.valid_delay import valid_delay
from merp.hdl.cnn_merp.ports.deltas import UnpoolConfig
from merp.hdl.cnn_merp.upsampling.unpool_ports import OfferedWord
from merp.hdl.conversion.entity import Bit, Word, entity
from merp.hdl.streams.credit_fifo import credit_fifo
from merp.hdl.streams.credit_gate import credit_gate
from merp.models.base.latencies import CREDIT_RETURN
from merp.models.machines.cnn_merp.params.unpool_design import UnpoolDesign


@block
def _choice(config: UnpoolConfig, product: Word, plain: Word, factor: Word, chosen: Word) -> Any:
    """Choose the factor, and whether the word that passes is the product."""

    @always_comb
    def choose() -> None:
        if config.average:
            factor.next = config.scale
            chosen.next = product
        else:
            factor.next = config.slope
            chosen.next = plain

    return choose


@block
def _no_choice(config: UnpoolConfig, product: Word, plain: Word, factor: Word, chosen: Word) -> Any:
    """The same in a design without average pooling."""

    @always_comb
    def choose() -> None:
        factor.next = config.slope
        chosen.next = plain

    return choose


@entity
def unpool_leak(
    clk: Bit,
    rst: Bit,
    config: UnpoolConfig,
    data: Word,
    valid: Bit,
    ready: Bit,
    word: OfferedWord,
    masked: Word,
    design: UnpoolDesign,
) -> Any:
    """Offer deltas, each with the word that takes its place if its mask bit is clear.

    data, valid, ready  in, in, out  deltas
    word                out  the deltas, in average pooling times 1 / window^2, as FIFO head
    masked              out  with word: the delta times the slope

    Without leaky ReLU, and in average pooling, where the mask belongs to the sums, masked has no
    meaning.
    Latency: mul_latency and two cycles. Throughput: a word per cycle. Reset: empty.
    """
    width = design.fmt.width
    places = design.mul_latency + CREDIT_RETURN
    room, accept, push, credit = flag(), flag(), flag(), flag()
    product, plain, factor, chosen = (bits(width) for _ in range(4))
    both, head = bits(2 * width), bits(2 * width)
    joined = ConcatSignal(product, chosen)
    choices = _choice if design.average else _no_choice

    @always_comb
    def permit() -> None:
        ready.next = room
        accept.next = valid and room

    @always_comb
    def join() -> None:
        both.next = joined

    @always_comb
    def present() -> None:
        word.data.next = head[width:]
        masked.next = head[2 * width : width]

    return (
        permit,
        choices(config, product=product, plain=plain, factor=factor, chosen=chosen),
        credit_gate(clk, rst, taken=accept, freed=credit, some=room, places=places),
        valid_delay(clk, rst, d=accept, q=push, cycles=design.mul_latency),
        fp_mul(clk, a=data, b=factor, y=product, fmt=design.fmt, latency=design.mul_latency),
        delay(clk, d=data, q=plain, cycles=design.mul_latency),
        join,
        credit_fifo(
            clk,
            rst,
            push=push,
            data=both,
            head=head,
            head_valid=word.valid,
            take=word.ready,
            credit=credit,
            words=places,
        ),
        present,
    )
