"""Kernel words and bias words as one sequence."""

from __future__ import annotations

from typing import Any

from myhdl import always, always_comb

from merp.hdl.base.signals import Stream
from merp.hdl.conversion.entity import Bit, Word, entity


@entity
def parameter_reader(
    clk: Bit,
    rst: Bit,
    start: Bit,
    biases: Bit,
    last: Bit,
    take: Bit,
    sink_kernel: Stream,
    sink_bias: Stream,
    data: Word,
    valid: Bit,
    framing_error: Bit,
) -> Any:
    """Offer the word of whichever stream has its turn.

    biases       in   it is that of the biases
    last         in   the word wanted is the last one of its stream
    take         in   the word is taken; only while valid
    sink_kernel  in   words of the kernels, or of their velocities
    sink_bias    in   the same of the biases
    data, valid  out  the word at hand
    framing_error  out  a last came with another word than its stream's last; until start

    Latency: combinational. Throughput: a word per cycle. Reset: no error.
    """

    @always_comb
    def choose() -> None:
        if biases:
            data.next = sink_bias.data
            valid.next = sink_bias.valid
        else:
            data.next = sink_kernel.data
            valid.next = sink_kernel.valid
        sink_kernel.ready.next = take and not biases
        sink_bias.ready.next = take and biases

    @always(clk.posedge)
    def check() -> None:
        if take:
            if biases:
                if sink_bias.last != last:
                    framing_error.next = True
            elif sink_kernel.last != last:
                framing_error.next = True
        if start or rst:
            framing_error.next = False

    return choose, check
