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
    """Offer the word of the stream whose turn it is.

    biases         in   it is the turn of the biases
    last           in   the requested word is the last one of its stream
    take           in   the word is taken; only while valid
    sink           in   words of the kernels and of the biases, or of their velocities.
    data, valid    out  the current word
    framing_error  out  last arrived with a word other than the last of its stream; until start

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
