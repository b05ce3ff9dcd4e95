"""Gradients of the biases: the sums of the deltas of each output map."""

from __future__ import annotations

from typing import Any

from myhdl import always, always_comb

from merp.hdl.arithmetic.fp_add import fp_add
from merp.hdl.base.delay import delay
from merp.hdl.base.signals import bits, count, flag
from merp.hdl.base.valid_delay import valid_delay
from merp.hdl.cnn_merp.ports.gradients import DeltaElement
from merp.hdl.conversion.entity import Bit, Word, entity
from merp.models.machines.cnn_merp.params.design import EngineDesign
from merp.models.machines.cnn_merp.params.latencies import GRADIENT_READ


@entity
def bias_gradient(
    clk: Bit,
    rst: Bit,
    element: DeltaElement,
    read_enable: Bit,
    read_index: Word,
    gradient: Word,
    design: EngineDesign,
) -> Any:
    """Add each delta word to the sum of its output map, from +0.

    element   in   a delta word; opening starts its sum
    read_enable, read_index  in   the memory is used by the reader; number of the sum
    gradient  out  this sum, GRADIENT_READ cycles later

    One adder serves all maps, because their deltas arrive one after the other. The same map may
    return after revisit_cycles at the earliest. Throughput: a word per cycle. Reset: words in the
    pipeline are dropped, except a word that is written in the same cycle; a run starts new sums.
    """
    width = design.fmt.width
    add_latency = design.add_latency
    words = design.groups * design.n_cu // design.delta_beat

    memory = [bits(width) for _ in range(words)]
    addr = count(words - 1)
    write_addr = count(words - 1)
    addend = bits(width)
    operand = bits(width)
    total = bits(width)
    write = flag()

    @always_comb
    def choose() -> None:
        if read_enable:
            addr.next = read_index
        else:
            addr.next = element.index

    @always(clk.posedge)
    def access() -> None:
        if write:
            memory[write_addr].next = total
        if element.opening and not read_enable:
            operand.next = 0
        else:
            operand.next = memory[addr]
        addend.next = element.data

    track = valid_delay(clk, rst, d=element.valid, q=write, cycles=add_latency + 1)
    carry = delay(clk, d=element.index, q=write_addr, cycles=add_latency + 1)
    add = fp_add(clk, a=addend, b=operand, y=total, fmt=design.fmt, latency=add_latency)
    align = delay(clk, d=operand, q=gradient, cycles=GRADIENT_READ - 1)
    return choose, track, access, carry, add, align
