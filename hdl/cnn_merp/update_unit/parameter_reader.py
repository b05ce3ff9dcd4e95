"""Kernel words and bias words as one sequence."""

from __future__ import annotations

from typing import Any

from myhdl import always, always_comb

from merp.hdl.cnn_merp.update_unit.update_ports import ParameterStreams
from merp.hdl.conversion.entity import Bit, Word, entity


@entity
def parameter_reader(
    clk: Bit,
    rst: Bit,
    start: Bit,
    biases: Bit,
    last: Bit,
    take: Bit,
    sink: ParameterStreams,
    data: Word,
    valid: Bit,
    framing_error: Bit,
) -> Any:
    """Offer the word of whichever stream has its turn.

    biases       in   it is that of the biases
    last         in   the word wanted is the last one of its stream
    take         in   the word is taken; only while valid
    sink         in   words of the kernels and of the biases, or of their velocities
    data, valid  out  the word at hand
    framing_error  out  a last came with another word than its stream's last; until start

    Latency: combinational. Throughput: a word per cycle. Reset: no error.
    """

    @always_comb
    def choose() -> None:
        if biases:
            data.next = sink.bias.data
            valid.next = sink.bias.valid
        else:
            data.next = sink.kernel.data
            valid.next = sink.kernel.valid
        sink.kernel.ready.next = take and not biases
        sink.bias.ready.next = take and biases

    @always(clk.posedge)
    def check() -> None:
        if take:
            if biases:
                if sink.bias.last != last:
                    framing_error.next = True
            elif sink.kernel.last != last:
                framing_error.next = True
        if start or rst:
            framing_error.next = False

    return choose, check
