"""Delta memories, one per lane: each supplies the delta that its MACs use.

Source: the RTL compiler's paper, section III.E.
"""

from __future__ import annotations

from typing import Any

from myhdl import ConcatSignal, always

from merp.hdl.base.delay import delay
from merp.hdl.base.dual_port_ram import dual_port_ram
from merp.hdl.base.lane import word_of_lane
from merp.hdl.base.signals import bits
from merp.hdl.conversion.entity import Bit, Word, entity
from merp.hdl.mac_array.ports.maps import DeltaWrite
from merp.hdl.mac_array.ports.slots import DeltaRead
from merp.models.machines.mac_array.params.design import WORD_BITS, ArrayDesign


@entity
def delta_lanes(
    clk: Bit, write: DeltaWrite, read: DeltaRead, deltas: Word, design: ArrayDesign
) -> Any:
    """Keep the deltas of two tiles of output maps; give every lane a pixel of its own map.

    write   in   an atom of a lane
    read    in   the read of a slot
    deltas  out  a delta per lane, lane 0 lowest, two cycles later

    Throughput: an atom in and a pixel of every lane out per cycle. Reset: none.
    """
    atoms = [bits(design.atom_bits) for _ in range(design.pof)]
    words = [bits(WORD_BITS) for _ in range(design.pof)]
    pixel = bits(len(read.pixel))
    memories = [
        dual_port_ram(
            clk,
            write=write.lanes(lane),
            write_addr=write.addr,
            data=write.data,
            read_addr=read.addr,
            word=atoms[lane],
            words=2 * design.delta_words,
        )
        for lane in range(design.pof)
    ]
    choices = [
        word_of_lane(words=atom, lane=pixel, word=word)
        for atom, word in zip(atoms, words, strict=True)
    ]
    side_by_side = ConcatSignal(*reversed(words))

    @always(clk.posedge)
    def hold() -> None:
        deltas.next = side_by_side

    return memories, delay(clk, d=read.pixel, q=pixel, cycles=1), choices, hold
