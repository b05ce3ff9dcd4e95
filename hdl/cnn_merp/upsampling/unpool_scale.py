"""Average pooling in backward propagation: multiply each delta by the share of an element."""

from __future__ import annotations

from typing import Any

from myhdl import always_comb

from merp.hdl.arithmetic.fp_mul import fp_mul
from merp.hdl.base.delay import delay
from merp.hdl.base.signals import bits, flag
from merp.hdl.base.valid_delay import valid_delay
from merp.hdl.cnn_merp.upsampling.unpool_ports import OfferedWord
from merp.hdl.conversion.entity import Bit, Word, entity
from merp.hdl.streams.credit_fifo import credit_fifo
from merp.hdl.streams.credit_gate import credit_gate
from merp.models.base.latencies import CREDIT_RETURN
from merp.models.machines.cnn_merp.params.unpool_design import UnpoolDesign


@entity
def unpool_scale(
    clk: Bit,
    rst: Bit,
    average: Bit,
    scale: Word,
    data: Word,
    valid: Bit,
    ready: Bit,
    word: OfferedWord,
    design: UnpoolDesign,
) -> Any:
    """Multiply deltas by 1 / window^2, or pass them.

    average             in   multiply
    scale               in   the factor.
    data, valid, ready  in, in, out  deltas
    word                out  the scaled deltas, as FIFO head

    Latency: mul_latency and two cycles. Throughput: a word per cycle. Reset: empty.
    """
    width = design.fmt.width
    places = design.mul_latency + CREDIT_RETURN
    room, accept, push, credit = flag(), flag(), flag(), flag()
    product, plain, chosen = bits(width), bits(width), bits(width)

    @always_comb
    def permit() -> None:
        ready.next = room
        accept.next = valid and room

    @always_comb
    def choose() -> None:
        if average:
            chosen.next = product
        else:
            chosen.next = plain

    return (
        permit,
        credit_gate(clk, rst, taken=accept, freed=credit, some=room, places=places),
        valid_delay(clk, rst, d=accept, q=push, cycles=design.mul_latency),
        fp_mul(clk, a=data, b=scale, y=product, fmt=design.fmt, latency=design.mul_latency),
        delay(clk, d=data, q=plain, cycles=design.mul_latency),
        choose,
        credit_fifo(
            clk,
            rst,
            push=push,
            data=chosen,
            head=word.data,
            head_valid=word.valid,
            take=word.ready,
            credit=credit,
            words=places,
        ),
    )
