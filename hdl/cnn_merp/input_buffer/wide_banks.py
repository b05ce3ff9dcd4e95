"""The k x k banks for words of several elements, with a memory for each place in a word."""

from __future__ import annotations

from typing import Any

from myhdl import ConcatSignal, always, always_comb, block, intbv

from merp.hdl.base.bank import ElementRead, ElementWrite, bank
from merp.hdl.base.lane import word_of_lane
from merp.hdl.base.signals import bits
from merp.hdl.cnn_merp.ports.maps import BankRead, WideBankWrite
from merp.hdl.conversion.entity import Bit, Word, entity
from merp.models.machines.cnn_merp.params.design import EngineDesign


@block
def _place(clk: Bit, read: BankRead, folded: Bit, lane: Word, turn: int) -> Any:
    """Select the memory with the tap, for all banks b with b mod map_port = turn."""
    size = len(lane)
    if folded is None:

        @always(clk.posedge)
        def hold() -> None:
            lane.next = read.lane

        return hold

    @always(clk.posedge)
    def place() -> None:
        turned = intbv(0)[size + 1 :]
        turned[:] = read.lane
        if folded:
            turned[:] = turned + turn
        lane.next = turned[size:]

    return place


@entity
def wide_banks(
    clk: Bit,
    write: WideBankWrite,
    read: BankRead,
    taps: Word,
    design: EngineDesign,
    folded: Bit = None,
) -> Any:
    """Write up to map_port elements, and read all banks.

    All memories of a bank read the same address. The input map selects the memory that holds the
    tap; in a folded run, the tap does so, too (``wide_fold_router``).

    taps    out  k*k words, bank (0, 0) lowest, then (0, 1), ...: window taps, still rotated
    folded  in   the elements of the run arrive map by map

    Latency: taps one cycle after read. Throughput: a write and a window per cycle. Reset: none.
    """
    k, lanes, width = design.k, design.map_port, design.fmt.width
    words, all_taps = design.d * design.row_words, design.taps
    q = [bits(width) for _ in range(k * k * lanes)]
    banks = [
        bank(
            clk,
            write=ElementWrite(
                write.places(i * all_taps + row * k + column),
                write.places(i * all_taps + row * k + column),
                write.addr,
                write.data((i + 1) * width, i * width),
            ),
            read=ElementRead(read, row, column),
            q=q[(row * k + column) * lanes + i],
            words=words,
            width=width,
        )
        for row in range(k)
        for column in range(k)
        for i in range(lanes)
    ]
    turns = 1 if folded is None else min(lanes, all_taps)
    places = [bits(len(read.lane)) for _ in range(turns)]
    chosen = [bits(width) for _ in range(all_taps)]
    found = [ConcatSignal(*reversed(q[b * lanes : (b + 1) * lanes])) for b in range(all_taps)]
    turned = [
        _place(clk, read=read, folded=folded, lane=places[turn], turn=turn) for turn in range(turns)
    ]
    choices = [
        word_of_lane(words=found[b], lane=places[b % turns], word=chosen[b])
        for b in range(all_taps)
    ]
    side_by_side = ConcatSignal(*reversed(chosen)) if k > 1 else chosen[0]

    @always_comb
    def collect() -> None:
        taps.next = side_by_side

    return banks, turned, choices, collect
