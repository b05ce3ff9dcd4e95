"""Location of a window along rows or columns: its block of banks, and the elements outside."""

from __future__ import annotations

from typing import Any

from myhdl import always, always_comb, intbv

from merp.hdl.base.signals import bits, count, flag
from merp.hdl.conversion.entity import Bit, entity
from merp.hdl.mac_array.ports.maps import AxisRead
from merp.hdl.mac_array.ports.registers import ColumnsConfig, RowsConfig
from merp.models.machines.mac_array.params.design import ArrayDesign


@entity
def window_axis(
    clk: Bit,
    config: RowsConfig | ColumnsConfig,
    rewind: Bit,
    advance: Bit,
    restart: Bit,
    ahead: Bit,
    step: Bit,
    read: AxisRead,
    design: ArrayDesign,
    tile: int,
) -> Any:
    """Move a window of tile elements, stride apart, tap by tap and tile by tile.

    Element x of a map lies in phase x mod stride. In this phase it is in block x div stride div
    tile, and in bank x div stride mod tile. All elements of a tap lie in one phase and in two
    blocks.

    config   in   stable from rewind on
    rewind   in   go to the first tap of the first tile
    advance  in   go to the first tap of the next tile
    restart  in   go to the first tap of this tile
    ahead    in   with restart: the windows of the next phase begin one element further on
    step     in   go to the next tap. If several of these inputs are high, the first in this list
                  has priority.
    read     out  location of the elements of the window

    tile: number of MACs along this axis, and of banks. Throughput: a tap per cycle. Reset: none,
    begin with rewind.
    """
    last_bank = tile - 1
    size_width = (design.max_size + 2 * tile).bit_length()

    # These registers exist for the first tap of the current tile, and for the current tap. They are
    # the first word of the block and of the next block, the elements left, and whether the block
    # lies before the map. The elements left are counted from the first one of the block to the end
    # of the map in the first phases, which may have one more than the others (0: no phase has any).
    tile_base, tile_next = count(2 * design.map_words), count(2 * design.map_words)
    tile_left, tile_before = bits(size_width), flag()
    base, following = count(2 * design.map_words), count(2 * design.map_words)
    left, before = bits(size_width), flag()
    split, phase = count(last_bank), count(design.max_stride)
    phase_base = count(2 * design.map_words)
    # the values one block further on
    tile_after, tile_rest = count(2 * design.map_words), bits(size_width)

    @always_comb
    def look_ahead() -> None:
        tile_after.next = tile_next + config.step
        if tile_next == config.last:
            tile_after.next = 0
        tile_rest.next = 0
        if tile_left > tile:
            tile_rest.next = tile_left - tile

    @always_comb
    def tell() -> None:
        covered = intbv(0)[tile:]
        next_block = intbv(0)[tile:]
        reach = intbv(0)[size_width:]
        reach[:] = left
        if phase >= config.part and left != 0:
            reach[:] = left - 1
        for bank in range(tile):
            if bank < split:
                next_block[bank] = True
                covered[bank] = bank + tile < reach
            else:
                covered[bank] = bank < reach and not before
        read.on.next = covered
        read.following.next = next_block
        read.shift.next = split
        read.here.next = base + phase_base
        read.beyond.next = following + phase_base

    @always(clk.posedge)
    def move() -> None:
        if rewind:
            split.next = config.split
            phase.next = config.phase
            phase_base.next = config.phase_base
            tile_before.next = config.before
            before.next = config.before
            if config.before:
                tile_base.next = config.last
                base.next = config.last
                tile_next.next = 0
                following.next = 0
                tile_left.next = config.whole + tile + 1
                left.next = config.whole + tile + 1
            else:
                tile_base.next = 0
                base.next = 0
                tile_left.next = config.whole + 1
                left.next = config.whole + 1
                if config.last == 0:
                    tile_next.next = 0
                    following.next = 0
                else:
                    tile_next.next = config.step
                    following.next = config.step
        elif advance:
            split.next = config.split
            phase.next = config.phase
            phase_base.next = config.phase_base
            tile_before.next = False
            before.next = False
            tile_base.next = tile_next
            base.next = tile_next
            tile_next.next = tile_after
            following.next = tile_after
            tile_left.next = tile_rest
            left.next = tile_rest
        elif restart:
            phase.next = config.phase
            phase_base.next = config.phase_base
            if ahead and config.split == last_bank:
                split.next = 0
                before.next = False
                base.next = tile_next
                following.next = tile_after
                left.next = tile_rest
            else:
                split.next = config.split
                if ahead:
                    split.next = config.split + 1
                before.next = tile_before
                base.next = tile_base
                following.next = tile_next
                left.next = tile_left
        elif step:
            if phase + 1 != config.stride:
                phase.next = phase + 1
                phase_base.next = phase_base + config.phase_step
            else:
                phase.next = 0
                phase_base.next = 0
                if split != last_bank:
                    split.next = split + 1
                else:
                    split.next = 0
                    before.next = False
                    base.next = following
                    if following == config.last:
                        following.next = 0
                    else:
                        following.next = following + config.step
                    if left > tile:
                        left.next = left - tile
                    else:
                        left.next = 0

    return look_ahead, tell, move
