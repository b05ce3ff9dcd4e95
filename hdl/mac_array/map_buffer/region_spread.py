"""Place a part of an atom, as wide as a region, at the columns of banks of its region."""

from __future__ import annotations

from typing import Any

from myhdl import ConcatSignal, always_comb, intbv

from merp.hdl.base.lane import word_of_lane
from merp.hdl.base.signals import bits, count
from merp.hdl.conversion.entity import Word, entity
from merp.models.machines.mac_array.params.design import WORD_BITS, ArrayDesign


@entity
def region_spread(
    atom: Word,
    level: Word,
    parts: Word,
    part: Word,
    beside: Word,
    data: Word,
    columns: Word,
    design: ArrayDesign,
) -> Any:
    """Put element part * 2^level + i of an atom at column beside * 2^level + i.

    atom     in   elements of the atom, the first one lowest
    level    in   logarithm of the columns of a region
    parts    in   pox / 2^level, parts of an atom
    part     in   number of the part
    beside   in   number of the region in its row of regions
    data     out  an element per column; arbitrary in columns that are not enabled
    columns  out  columns that have an element

    Latency: combinational.
    """
    pox = design.pox
    sizes = pox.bit_length()
    chosen = count(2 * pox - 2)
    words = [bits(WORD_BITS) for _ in range(pox)]
    choices = []
    for column in range(pox):
        # There are as many cases as region widths: one for the whole atom, two for its halves, ...
        places = [
            start * side + column % side
            for side in (pox >> level for level in range(sizes))
            for start in range(pox // side)
        ]
        candidates = [atom((at + 1) * WORD_BITS, at * WORD_BITS) for at in places]
        side_by_side = ConcatSignal(*reversed(candidates))
        choices.append(word_of_lane(words=side_by_side, lane=chosen, word=words[column]))
    together = ConcatSignal(*reversed(words))

    @always_comb
    def choose() -> None:
        chosen.next = 0
        if parts > 1:
            chosen.next = parts - 1 + part

    @always_comb
    def collect() -> None:
        data.next = together

    @always_comb
    def enable() -> None:
        enabled = intbv(0)[pox:]
        region = intbv(0)[sizes:]
        for column in range(pox):
            region[:] = column
            region[:] = region >> level
            if region == beside:
                enabled[column] = True
        columns.next = enabled

    return choices, choose, collect, enable
