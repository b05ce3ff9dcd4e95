"""Where the windows of all regions lie, along rows or along columns, in a kernel update."""

from __future__ import annotations

from typing import Any

from myhdl import always, always_comb, intbv

from merp.hdl.base.signals import bits, count, flag
from merp.hdl.conversion.entity import Bit, entity
from merp.hdl.mac_array.ports.maps import AxisRead
from merp.hdl.mac_array.ports.registers import RegionColumnsConfig, RegionRowsConfig
from merp.models.params.mac_array.design import Design


@entity
def region_axis(
    clk: Bit,
    config: RegionRowsConfig | RegionColumnsConfig,
    rewind: Bit,
    advance: Bit,
    restart: Bit,
    step: Bit,
    read: AxisRead,
    design: Design,
    tile: int,
) -> Any:
    """Move the windows of all regions over their maps, output by output and tap tile by tap tile.

    Every region has side banks along this axis, and element x of its map is in block x div side and
    bank x mod side of them. The window begins where the tile's first tap lies.

    config   in   stable from rewind on
    rewind   in   go to the first output of the first tile of taps
    advance  in   go to the first output of the next tile of taps
    restart  in   go to the first output of this one
    step     in   go to the next output; of several at once the first named counts
    read     out  where the windows' elements are

    tile: MACs along this axis, and banks. Throughput: an output per cycle. Reset: none, rewind.
    """
    top = 2 * design.map_words
    size_width = (2 * design.max_size + 4 * tile).bit_length()
    wide = (2 * tile).bit_length()

    # Of the first output of the tile of taps at hand, and of the output: bank of the window's first
    # element, first word of the next block, elements from this block's first to the map's end,
    # whether the block lies before the map.
    tile_split, split = count(tile - 1), count(tile - 1)
    tile_next, following = count(top), count(top)
    tile_left, left = bits(size_width), bits(size_width)
    tile_before, before = flag(), flag()
    # The same of where a step, or the next tile of taps, leads to.
    new_split, new_next = count(tile - 1), count(top)
    new_left, new_before = bits(size_width), flag()

    @always_comb
    def tell() -> None:
        covered = intbv(0)[tile:]
        next_block = intbv(0)[tile:]
        place = intbv(0)[wide:]
        reach = intbv(0)[wide:]
        for bank in range(tile):
            place[:] = config.mask
            place[:] = place & bank
            reach[:] = config.mask
            reach[:] = reach + place + 1
            if place < split:
                next_block[bank] = True
                covered[bank] = reach < left
            else:
                covered[bank] = place < left and not before
        read.on.next = covered
        read.following.next = next_block
        read.shift.next = split
        read.beyond.next = following
        read.here.next = 0
        if not before and following >= config.block_words:
            read.here.next = following - config.block_words

    @always_comb
    def lead() -> None:
        moved = intbv(0)[wide:]
        passed = intbv(0)[size_width:]
        remaining = intbv(0)[size_width:]
        word = intbv(0, min=0, max=4 * top)
        if advance:
            moved[:] = tile_split
            moved[:] = moved + config.tile_split
            passed[:] = config.tile_size
            remaining[:] = tile_left
            word[:] = tile_next
            word[:] = word + config.tile_words
        else:
            moved[:] = split
            moved[:] = moved + config.step_split
            passed[:] = config.step_size
            remaining[:] = left
            word[:] = following
            word[:] = word + config.step_words
        if moved > config.mask:
            moved[:] = moved - config.mask - 1
            passed[:] = passed + config.mask + 1
            word[:] = word + config.block_words
        new_split.next = moved
        new_next.next = word
        new_left.next = 0
        if remaining > passed:
            new_left.next = remaining - passed
        new_before.next = False
        if passed == 0:
            if advance:
                new_before.next = tile_before
            else:
                new_before.next = before

    @always(clk.posedge)
    def move() -> None:
        if rewind:
            tile_split.next = config.split
            split.next = config.split
            tile_before.next = config.before
            before.next = config.before
            if config.before:
                tile_next.next = 0
                following.next = 0
                tile_left.next = config.size + config.mask + 1
                left.next = config.size + config.mask + 1
            else:
                tile_next.next = config.block_words
                following.next = config.block_words
                tile_left.next = config.size
                left.next = config.size
        elif advance:
            tile_split.next = new_split
            split.next = new_split
            tile_next.next = new_next
            following.next = new_next
            tile_left.next = new_left
            left.next = new_left
            tile_before.next = new_before
            before.next = new_before
        elif restart:
            split.next = tile_split
            following.next = tile_next
            left.next = tile_left
            before.next = tile_before
        elif step:
            split.next = new_split
            following.next = new_next
            left.next = new_left
            before.next = new_before

    return tell, lead, move
