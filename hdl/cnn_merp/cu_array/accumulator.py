"""Co-located accumulators of one computational unit (CNN-MERP strategy 3, section IV.C).

The partial sums of all output maps at one position stay here until the last input map has been
added. Only finished sums are sent. A sum starts at its bias, so no bias adder follows.
"""

from __future__ import annotations

from typing import Any

from myhdl import always, concat, intbv

from merp.hdl.arithmetic.fp_add import fp_add
from merp.hdl.base.signals import bits
from merp.hdl.cnn_merp.cu_array.unit_ports import MemoryWrite, SumWrite
from merp.hdl.conversion.entity import Bit, Word, entity
from merp.models.machines.cnn_merp.params.design import EngineDesign


@entity
def accumulator(
    clk: Bit,
    first: Bit,
    bias_sel: Word,
    read_addr: Word,
    psum: Word,
    write: SumWrite,
    bias: MemoryWrite,
    y: Word,
    design: EngineDesign,
) -> Any:
    """Add a sum of products to one of the partial sums, or to a bias.

    first, bias_sel, read_addr: the other operand is bias bias_sel if first is high, else partial
    sum read_addr; both in the cycle before psum. psum, y: in the format of the accumulator; biases
    are elements, whose fraction is padded with zeros. psum: the sum of products; y: psum plus
    operand, add_latency cycles after psum. write: keep y of this cycle as a partial sum. bias:
    write port of the bias memory. Latency: add_latency cycles from psum. Throughput: one addition
    per cycle. A partial sum may be read in the cycle that writes it (forwarded), but not earlier:
    every accumulate_latency cycles. Reset: none.
    """
    fmt = design.accumulator_format
    sums = [bits(fmt.width) for _ in range(design.p * design.groups)]
    biases = [bits(design.origin_format.width) for _ in range(design.origins)]
    operand = bits(fmt.width)
    more = fmt.width - design.origin_format.width  # fraction bits that a bias lacks

    @always(clk.posedge)
    def fetch() -> None:
        start = intbv(0)[fmt.width + 1 :]  # with an extra bit, because the number of zeros may be 0
        start[:] = concat(biases[bias_sel], intbv(0)[more + 1 :])
        if write.enable:
            sums[write.addr].next = y
        if bias.enable:
            biases[bias.addr].next = bias.data
        if first:
            operand.next = start[fmt.width + 1 : 1]
        elif write.enable and write.addr == read_addr:
            operand.next = y
        else:
            operand.next = sums[read_addr]

    add = fp_add(clk, a=psum, b=operand, y=y, fmt=fmt, latency=design.add_latency)
    return fetch, add
