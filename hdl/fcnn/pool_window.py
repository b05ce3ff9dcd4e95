"""Maxima of windows that do not overlap, of a stream of maps in rows."""

from __future__ import annotations

from typing import Any

from myhdl import ConcatSignal, always, always_comb, block

from merp.hdl.arithmetic.coded_max import coded_max
from merp.hdl.base.dual_port_ram import dual_port_ram
from merp.hdl.base.signals import bits, count, flag
from merp.hdl.conversion.entity import Bit, Word
from merp.hdl.fcnn.pool_walk import PoolPlace
from merp.models.machines.fcnn.params.pool_design import PoolDesign


@block
def pool_window(
    clk: Bit, advance: Bit, beat: Word, place: PoolPlace, coded: Word, design: PoolDesign
) -> Any:
    """Compare each beat with the largest one of its window so far, which a memory keeps.

    advance  in   the beat is taken in this cycle; place belongs to it
    coded    out  two cycles later: of each lane the largest element of the window up to the beat,
                  with its position above it

    The memory has a word for each window of a row. With one beat per column, a window may be read
    one cycle after it was read before. Then the memory still has the old word, and the new one
    comes from the register. Throughput: a beat per cycle. Reset: none.
    """
    width, whole, lanes = design.fmt.width, design.coded_width, design.lanes
    size = lanes * whole
    element, code = bits(design.map_width), bits(design.code_bits)
    address = count(design.row_words - 1)
    store, fresh, same = flag(), flag(), flag()
    kept, partial, larger = bits(size), bits(size), bits(size)
    winners = [bits(whole) for _ in range(lanes)]
    joined = ConcatSignal(*reversed(winners)) if lanes > 1 else winners[0]

    @always(clk.posedge)
    def take() -> None:
        element.next = beat
        code.next = place.code
        address.next = place.address
        fresh.next = place.first
        store.next = advance and place.inside
        same.next = store and address == place.address

    @always_comb
    def choose() -> None:
        if same:
            partial.next = coded
        else:
            partial.next = kept

    @always_comb
    def join() -> None:
        larger.next = joined

    @always(clk.posedge)
    def keep() -> None:
        coded.next = larger

    memory = dual_port_ram(
        clk, write=store, write_addr=address, data=larger, read_addr=place.address, word=kept,
        words=design.row_words,
    )  # fmt: skip
    units = [
        coded_max(
            fresh=fresh,
            a=partial((lane + 1) * whole, lane * whole),
            b=element((lane + 1) * width, lane * width),
            code=code,
            y=winners[lane],
        )
        for lane in range(lanes)
    ]
    return take, choose, join, keep, memory, units
