"""Pooled deltas in, deltas of the sums out: a pass of its own, through the index memory.

The RTL compiler's paper, section III.B: un-pooling reads and writes memory.
"""

from __future__ import annotations

from typing import Any

from myhdl import always, always_comb

from merp.hdl.base.loop_index import loop_index
from merp.hdl.base.signals import Stream, count, flag
from merp.hdl.conversion.entity import Bit, entity
from merp.hdl.mac_array.output.upsampler import upsampler
from merp.hdl.mac_array.ports.outputs import IndexWrite
from merp.hdl.mac_array.ports.unpooling import ExpandedAtom, PooledAtom, UnpoolConfig
from merp.hdl.streams.wanted_gate import wanted_gate
from merp.models.params.mac_array.design import Design


@entity
def unpool_path(
    clk: Bit,
    rst: Bit,
    start: Bit,
    config: UnpoolConfig,
    index: IndexWrite,
    sink: Stream,
    source: Stream,
    framing_error: Bit,
    design: Design,
) -> Any:
    """Take the pooled atoms of a pass, and send what each becomes.

    config         in   registers, stable from start to the last atom that leaves
    index          in   write port of the index memory: places of the maxima of an atom of outputs
    sink           in   pooled atoms: map, row, column
    source         out  of each the atoms of its windows, row by row
    framing_error  out  last came with another atom than the pass's last; until start

    Latency: two cycles. Throughput: an atom out per cycle. Reset: no atom; places stay.
    """
    pooled, expanded = PooledAtom(design), ExpandedAtom(design)
    block = count(design.max_size)
    clear, take, last_block, leaves = (flag() for _ in range(4))
    gated = Stream(len(sink.data))
    words = design.index_words
    addr = count(words)
    leaving = count(config.atoms.max - 1)

    @always_comb
    def begin() -> None:
        clear.next = rst or start

    @always_comb
    def offer() -> None:
        pooled.data.next = gated.data
        pooled.valid.next = gated.valid
        pooled.columns.next = design.pox
        pooled.parts.next = config.most + 1
        if last_block:
            pooled.columns.next = config.last_columns
            pooled.parts.next = config.last_parts
        pooled.addr.next = 0
        if addr < words:  # behind the last atom it may be the memory's end
            pooled.addr.next = addr
        gated.ready.next = pooled.ready
        take.next = gated.valid and pooled.ready

    @always_comb
    def hand_out() -> None:
        source.data.next = expanded.data
        source.valid.next = expanded.valid
        source.last.next = expanded.last and leaving == 1
        expanded.ready.next = source.ready
        leaves.next = expanded.valid and source.ready and expanded.last

    @always(clk.posedge)
    def tally() -> None:
        if take:
            addr.next = addr + 1
        if leaves:
            leaving.next = leaving - 1
        if start:
            addr.next = config.index_base
            leaving.next = config.atoms

    gate = wanted_gate(
        clk, rst, start, wanted=config.active, beats=config.atoms, sink=sink, source=gated,
        framing_error=framing_error,
    )  # fmt: skip
    columns = loop_index(clk, start, step=take, size=config.blocks, index=block, final=last_block)
    expand = upsampler(
        clk, clear, pool=config.pool, most=config.most, index=index, sink=pooled, source=expanded,
        design=design,
    )  # fmt: skip
    return begin, offer, hand_out, tally, gate, columns, expand
