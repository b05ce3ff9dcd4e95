"""Two sets of kernels: a pass computes with one set while the next one loads.

Source: F-CNN section IV; the host sends the weights of a module over PCIe while it runs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from myhdl import ConcatSignal, always, always_comb, block

from merp.hdl.base.interface import GivenPorts, given_all
from merp.hdl.base.loop_index import loop_index
from merp.hdl.base.signals import Stream, bits, count, flag
from merp.hdl.conversion.entity import Bit, Word, entity
from merp.hdl.streams.collect_taps import collect_taps


@dataclass(frozen=True)
class SetSize:
    """Sizes of a set of kernels.

    Attributes:
        maps: kernels of a set, one for each output map of a block.
        taps: elements of a kernel.
        width: bits of an element.
    """

    maps: int
    taps: int
    width: int


class RunSets(GivenPorts):
    """The sets of a run, from its registers."""

    MEMBERS = given_all(enable=Bit, inputs=Word, blocks=Word, last_maps=Word)


@block
def _own_words(sink: Stream, accept: Bit, index: Word, own: Stream, at: int) -> Any:
    """Select the words of map ``at`` of the block."""

    @always_comb
    def select() -> None:
        own.data.next = sink.data
        own.valid.next = sink.valid and accept and index == at
        own.ready.next = True

    return select


@block
def _maps_of_block(last_block: Bit, last_maps: Word, index: Word, final: Bit, maps: int) -> Any:
    """Detect the last map of a block."""

    @always_comb
    def compare() -> None:
        if last_block:
            final.next = index + 1 == last_maps
        else:
            final.next = index + 1 == maps

    return compare


@entity
def kernel_pair(
    clk: Bit,
    rst: Bit,
    start: Bit,
    sets: RunSets,
    sink: Stream,
    swap: Bit,
    loaded: Bit,
    kernels: Word,
    framing_error: Bit,
    size: SetSize,
) -> Any:
    """Load the kernels of the next pass of a block while those of this pass are in use.

    start          in   pulse: a run begins; registers are stable from here on
    enable         in   the run has kernels; otherwise nothing is taken
    inputs         in   sets of kernels for each block of output maps
    blocks         in   blocks of output maps
    last_maps      in   output maps of the last block; the others have maps
    sink           in   elements: block, set, map of the block, and tap, which is innermost
    swap           in   use the loaded set; only while loaded
    loaded         out  the next set is complete
    kernels        out  the set in use: map 0 lowest, and in it tap 0 (row 0, column 0)
    framing_error  out  last arrived with a wrong element; high until the next start

    A missing map of a short last block keeps an old kernel. Latency: loaded rises in the cycle
    after the last element; kernels change in the cycle after swap. Throughput: an element per
    cycle, and none while a complete set waits for swap. Reset: no run.
    """
    maps, taps, width = size.maps, size.taps, size.width
    enable, inputs, blocks, last_maps = sets.enable, sets.inputs, sets.blocks, sets.last_maps
    kernel = taps * width
    taking, accept, take, last = (flag() for _ in range(4))
    tap, tap_ends = count(taps), flag()
    index, map_ends = count(maps), flag()
    at_set, at_block = bits(len(inputs)), bits(len(blocks))
    set_ends, last_set, last_block, block_ends = (flag() for _ in range(4))
    loading = [bits(kernel) for _ in range(maps)]
    words = [Stream(width) for _ in range(maps)]
    joined: Any = ConcatSignal(*reversed(loading)) if maps > 1 else loading[0]

    @always_comb
    def offer() -> None:
        accept.next = taking and not loaded

    @always_comb
    def transfer() -> None:
        sink.ready.next = accept
        take.next = accept and sink.valid

    @always_comb
    def look() -> None:
        tap_ends.next = tap == taps - 1
        set_ends.next = take and tap_ends and map_ends
        block_ends.next = take and tap_ends and map_ends and last_set
        last.next = tap_ends and map_ends and last_set and last_block

    @always(clk.posedge)
    def walk() -> None:
        if take:
            if tap_ends:
                tap.next = 0
                if map_ends:
                    index.next = 0
                else:
                    index.next = index + 1
            else:
                tap.next = tap + 1
        if start:
            tap.next = 0
            index.next = 0

    @always(clk.posedge)
    def follow() -> None:
        if set_ends:
            loaded.next = True
        if swap:
            loaded.next = False
            kernels.next = joined
        if take:
            if last != sink.last:
                framing_error.next = True
            if last:
                taking.next = False
        if start:
            taking.next = enable
            framing_error.next = False
            loaded.next = False
        if rst:
            taking.next = False
            framing_error.next = False
            loaded.next = False

    loops = (
        loop_index(clk, start, step=set_ends, size=inputs, index=at_set, final=last_set),
        loop_index(clk, start, step=block_ends, size=blocks, index=at_block, final=last_block),
        _maps_of_block(
            last_block=last_block, last_maps=last_maps, index=index, final=map_ends, maps=maps
        ),
    )  # fmt: skip
    collect = [
        (
            _own_words(sink=sink, accept=accept, index=index, own=words[at], at=at),
            collect_taps(
                clk, sink=words[at], collected=loading[at], width=width, rotated=False
            ),
        )
        for at in range(maps)
    ]  # fmt: skip
    return offer, transfer, look, walk, follow, loops, collect
