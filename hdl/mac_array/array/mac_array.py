"""All lanes of MACs in lockstep: the pixels of a tile of several output maps, a tap a cycle."""

from __future__ import annotations

from typing import Any

from myhdl import ConcatSignal, always, always_comb

from merp.hdl.base.signals import bits, flag
from merp.hdl.base.valid_delay import valid_delay
from merp.hdl.conversion.entity import Bit, entity
from merp.hdl.mac_array.array.mac_lane import mac_lane
from merp.hdl.mac_array.behavioural.mac_array import mac_array_fast
from merp.hdl.mac_array.ports.operands import Operands, Rank
from merp.models.machines.mac_array.params.design import SUM_BITS, WORD_BITS, ArrayDesign


@entity(twin=mac_array_fast)
def mac_array(clk: Bit, rst: Bit, operands: Operands, rank: Rank, design: ArrayDesign) -> Any:
    """Multiply the pixels of a tile with a weight of every lane, and sum over the slots of a tile.

    operands  in   of a slot
    rank      out  a tile's sums, read a MAC of all lanes a cycle

    The pixels are the same for all lanes, a lane's weight the same for all of its MACs.
    Latency: rank_copied four cycles after a slot with last, in the first cycle in which the second
    rank has its tile; rank_sums a cycle after rank_place. Throughput: a slot per cycle. The last
    slot of a tile must come when the tile before has been read, or will have been three cycles
    later.
    Reset: slots in flight are not copied; sums stay.
    """
    copy = flag()
    totals = [bits(SUM_BITS) for _ in range(design.pof)]
    lanes = [
        mac_lane(
            clk,
            pixels=operands.pixels,
            weight=operands.weights((c + 1) * WORD_BITS, c * WORD_BITS),
            first=operands.first,
            add=operands.valid,
            biased=operands.biased,
            copy=copy,
            place=rank.place,
            total=totals[c],
            design=design,
        )
        for c in range(design.pof)
    ]
    finished = flag()
    joined = ConcatSignal(*reversed(totals))

    @always_comb
    def finish() -> None:
        finished.next = operands.valid and operands.last

    @always(clk.posedge)
    def tell() -> None:
        rank.copied.next = copy
        if rst:
            rank.copied.next = False

    @always_comb
    def hand_out() -> None:
        rank.sums.next = joined

    return lanes, finish, valid_delay(clk, rst, d=finished, q=copy, cycles=3), tell, hand_out
