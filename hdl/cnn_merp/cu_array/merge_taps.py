"""Write some taps of a kernel into its word: the word is read, and written a cycle later."""

from __future__ import annotations

from typing import Any

from myhdl import ConcatSignal, always, always_comb, block

from merp.hdl.base.signals import bits
from merp.hdl.cnn_merp.cu_array.unit_ports import MemoryWrite, UnitWrite
from merp.hdl.conversion.entity import Bit, Word, entity


@block
def _tap(mine: Bit, new: Word, old: Word, lane: Word) -> Any:
    """Select the new element of a tap, or the stored one."""

    @always_comb
    def choose() -> None:
        if mine:
            lane.next = new
        else:
            lane.next = old

    return choose


@block
def _element(placed: Bit, element: Word, word: Word, new: Word) -> Any:
    """Select the element of this CU, or the element of the word that all CUs share."""

    @always_comb
    def choose() -> None:
        if placed:
            new.next = element
        else:
            new.next = word

    return choose


@entity
def merge_taps(
    clk: Bit,
    write: UnitWrite,
    read_addr: Word,
    kept: Word,
    memory_addr: Word,
    merged: MemoryWrite,
) -> Any:
    """Convert a write of some elements of a word to a write of the whole word.

    write        in   elements of a kernel, and enable bits for them
    read_addr    in   the kernel to read, in a cycle without a write
    kept         in   word ``memory_addr`` of the memory, a cycle later
    memory_addr  out  address of the memory's read port
    merged       out  write of the whole word, a cycle later

    Throughput: a write per cycle, but not to the same word in two consecutive cycles. Reset: none.
    """
    data, taps, element, places = write.data, write.taps, write.element, write.places
    count = len(taps)
    width = len(data) // count
    late_data = bits(len(data))
    late_taps = bits(count)
    lanes = [bits(width) for _ in range(count)]

    @always_comb
    def look_up() -> None:
        if write.enable:
            memory_addr.next = write.addr
        else:
            memory_addr.next = read_addr

    @always(clk.posedge)
    def wait() -> None:
        merged.enable.next = write.enable
        merged.addr.next = write.addr
        late_data.next = data
        late_taps.next = taps

    news: list[Any] = []
    placed: Any = ()
    if element is not None and places is not None:
        late_element, late_places = bits(width), bits(count)

        @always(clk.posedge)
        def wait_for_element() -> None:
            late_element.next = element
            late_places.next = places

        news = [bits(width) for _ in range(count)]
        placed = (
            wait_for_element,
            [
                _element(
                    placed=late_places(j),
                    element=late_element,
                    word=late_data((j + 1) * width, j * width),
                    new=news[j],
                )
                for j in range(count)
            ],
        )

    chosen = [
        _tap(
            mine=late_taps(j),
            new=news[j] if news else late_data((j + 1) * width, j * width),
            old=kept((j + 1) * width, j * width),
            lane=lanes[j],
        )
        for j in range(count)
    ]
    joined = ConcatSignal(*reversed(lanes)) if count > 1 else lanes[0]

    @always_comb
    def join() -> None:
        merged.data.next = joined

    return look_up, wait, chosen, join, placed
