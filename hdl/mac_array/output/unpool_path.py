"""Un-pooling: each pooled delta becomes the atoms of its window.

In the RTL compiler's paper, section III.G, un-pooling is a pass of its own, through memory. Here
the deltas can also be un-pooled as DP and KU read them. Then they need not be stored at the
resolution of the sums.
"""

from __future__ import annotations

from typing import Any

from myhdl import always, always_comb

from merp.hdl.base.loop_index import loop_index
from merp.hdl.base.signals import Stream, bits, count, flag
from merp.hdl.conversion.entity import Bit, entity
from merp.hdl.mac_array.output.pooled_walk import pooled_walk
from merp.hdl.mac_array.output.upsampler import upsampler
from merp.hdl.mac_array.ports.outputs import IndexWrite
from merp.hdl.mac_array.ports.unpooling import ArrayUnpoolConfig, ExpandedAtom, PooledAtom
from merp.hdl.streams.stream_skid import stream_skid
from merp.hdl.streams.wanted_gate import wanted_gate
from merp.models.machines.mac_array.params.design import ArrayDesign, over


@entity
def unpool_path(
    clk: Bit,
    rst: Bit,
    start: Bit,
    config: ArrayUnpoolConfig,
    index: IndexWrite,
    sink: Stream,
    source: Stream,
    framing_error: Bit,
    design: ArrayDesign,
) -> Any:
    """Take the pooled atoms of a pass, and send the atoms of their windows.

    config         in   registers, stable from start to the last atom sent
    index          in   write port of the index memory: places of the maxima of an atom of outputs
    sink           in   pooled atoms. Un-pooling pass: map, row, column. DP and KU: the order in
                        which they read rows of deltas
    source         out  the atoms of each window, row by row. In DP and KU the order is row by row
                        of the map; therefore a pooled row is kept and read again
    framing_error  out  last arrived with an atom other than the last of the pass; until start

    Latency: two cycles. Throughput: an atom out per cycle. Reset: no atom; places stay.
    """
    pooled, expanded = PooledAtom(design), ExpandedAtom(design)
    kept = [bits(design.atom_bits) for _ in range(over(design.max_size, design.pox))]
    block = count(design.max_size)
    repeat = count(design.pool_window)
    clear, wanted, take, last_block, next_row, last_repeat, next_inner = (flag() for _ in range(7))
    last_inner = flag()
    gated, leaving = Stream(len(sink.data)), Stream(len(sink.data))
    words = design.index_words
    addr = count(2 * words)

    @always_comb
    def begin() -> None:
        clear.next = rst or start
        wanted.next = config.active or config.on_entry

    @always_comb
    def carry() -> None:
        next_row.next = take and last_block
        next_inner.next = take and last_block and last_repeat

    @always_comb
    def offer() -> None:
        pooled.data.next = gated.data
        pooled.valid.next = gated.valid
        gated.ready.next = pooled.ready
        take.next = gated.valid and pooled.ready
        if repeat != 0:
            pooled.data.next = kept[block]
            pooled.valid.next = True
            gated.ready.next = False
            take.next = pooled.ready

    @always_comb
    def describe() -> None:
        pooled.columns.next = design.pox
        pooled.parts.next = config.most + 1
        if last_block:
            pooled.columns.next = config.last_columns
            pooled.parts.next = config.last_parts
        pooled.addr.next = 0
        if addr + block < words:  # behind the last atom, the end of the memory may be exceeded
            pooled.addr.next = addr + block
        pooled.top.next = 0
        pooled.bottom.next = config.most
        if config.on_entry:
            pooled.top.next = repeat
            pooled.bottom.next = repeat
        pooled.final.next = last_block and last_repeat and last_inner

    @always_comb
    def hand_out() -> None:
        leaving.data.next = expanded.data
        leaving.valid.next = expanded.valid
        leaving.last.next = expanded.last and expanded.final
        expanded.ready.next = leaving.ready

    @always(clk.posedge)
    def keep() -> None:
        if take and repeat == 0:
            kept[block].next = gated.data

    gate = wanted_gate(
        clk, rst, start, wanted=wanted, beats=config.atoms, sink=sink, source=gated,
        framing_error=framing_error,
    )  # fmt: skip
    loops = (
        loop_index(clk, clear, step=take, size=config.blocks, index=block, final=last_block),
        loop_index(clk, clear, step=next_row, size=config.rows, index=repeat, final=last_repeat),
    )
    walk = pooled_walk(
        clk, clear, config=config, step=next_inner, addr=addr, ends=last_inner, design=design
    )
    expand = upsampler(
        clk, clear, pool=config.pool, most=config.most, index=index, sink=pooled, source=expanded,
        design=design,
    )  # fmt: skip
    # The acceptance of an atom is known late in a cycle, and all loops depend on it.
    skid = stream_skid(clk, clear, sink=leaving, source=source)
    return begin, carry, offer, describe, hand_out, keep, gate, loops, walk, expand, skid
