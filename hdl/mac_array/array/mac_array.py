"""All lanes of MACs in lockstep: one tap per cycle for the pixels of a tile of output maps."""

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
    """Multiply the pixels of a tile by a weight per lane, and sum over the slots of a tile.

    operands  in   operands of a slot
    rank      out  the sums of a tile; one MAC of all lanes is read per cycle

    All lanes share the pixels; all MACs of a lane share its weight. A slot is an issue slot of the
    sequencer. Latency: rank_copied is high four cycles after a slot with last. This is the first
    cycle in which the second rank holds the tile. rank_sums follows rank_place by one cycle.
    Throughput: a slot per cycle. The last slot of a tile must not be issued before the previous
    tile was read, or will have been read three cycles later. Reset: slots in the pipeline are not
    copied; sums stay.
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
