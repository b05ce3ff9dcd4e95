"""Location of the windows of all regions along an axis after a move."""

from __future__ import annotations

from typing import Any

from myhdl import always, always_comb, block, intbv

from merp.hdl.base.signals import bits, count, flag
from merp.hdl.conversion.entity import Bit, Word
from merp.hdl.mac_array.ports.registers import RegionColumnsConfig, RegionRowsConfig
from merp.models.machines.mac_array.params.design import ArrayDesign


class RegionPlace:
    """Start of the window of every region along an axis."""

    def __init__(self, design: ArrayDesign, tile: int) -> None:
        top = 2 * design.map_words
        self.split = count(tile - 1)  # bank of its first element
        self.here = count(top)  # first word of the block of this element; 0 before the map
        self.beyond = count(top)  # first word of the next block
        self.left = bits((2 * design.max_size + 4 * tile).bit_length())  # elements to the end
        self.before = flag()  # the block lies before the map


@block
def region_move(
    clk: Bit,
    config: RegionRowsConfig | RegionColumnsConfig,
    split: Word,
    words: Word,
    size: Word,
    place: RegionPlace,
    moved: RegionPlace,
) -> Any:
    """Move windows on by some banks, and by at most one block: strides are within a region.

    config, split, words, size  in       stable; their sums are valid from the second cycle on.
                                         split: banks; words, size: words and elements of the block
    place, moved  in, out  location before and after

    Latency: combinational from place.
    """
    address, wide = len(place.beyond), len(place.split) + 1
    one_more = bits(len(words) + 1)  # words, with one more block
    block_more = bits(len(place.left))  # elements, with one more block
    whole = flag()  # the window moves on by a whole block

    @always(clk.posedge)
    def reckon() -> None:
        more = intbv(0)[len(words) + 1 :]
        elements = intbv(0)[len(place.left) :]
        more[:] = words
        more[:] = more + config.block_words
        one_more.next = more
        elements[:] = size
        elements[:] = elements + config.mask + 1
        block_more.next = elements
        whole.next = words >= config.block_words

    @always_comb
    def lead() -> None:
        bank = intbv(0)[wide:]
        masked = intbv(0)[wide:]
        near = intbv(0)[address + 2 :]
        far = intbv(0)[address + 2 :]
        bank[:] = place.split
        bank[:] = bank + split
        masked[:] = config.mask
        masked[:] = masked & bank
        near[:] = place.here
        far[:] = place.beyond
        if masked != bank:  # a region has a power of two of banks
            near[:] = far + words
            far[:] = far + one_more
        elif whole:
            near[:] = far
            far[:] = far + words
        moved.split.next = masked
        moved.here.next = near[address:]
        moved.beyond.next = far[address:]
        moved.left.next = 0
        if masked != bank:
            if place.left > block_more:
                moved.left.next = place.left - block_more
        elif place.left > size:
            moved.left.next = place.left - size
        moved.before.next = place.before and masked == bank and size == 0

    return reckon, lead
