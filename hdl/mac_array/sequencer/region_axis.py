"""Location of the windows of all regions, along rows or along columns, in a kernel update."""

from __future__ import annotations

from typing import Any

from myhdl import always, always_comb, intbv

from merp.hdl.conversion.entity import Bit, entity
from merp.hdl.mac_array.ports.maps import AxisRead
from merp.hdl.mac_array.ports.registers import RegionColumnsConfig, RegionRowsConfig
from merp.hdl.mac_array.sequencer.region_move import RegionPlace, region_move
from merp.models.machines.mac_array.params.design import ArrayDesign


@entity
def region_axis(
    clk: Bit,
    config: RegionRowsConfig | RegionColumnsConfig,
    rewind: Bit,
    advance: Bit,
    restart: Bit,
    step: Bit,
    read: AxisRead,
    design: ArrayDesign,
    tile: int,
) -> Any:
    """Move the windows of all regions over their maps, output by output and tap tile by tap tile.

    Every region has side banks along this axis. Element x of its map is in block x div side and in
    bank x mod side. The window begins at the first tap of the tile.

    config   in   stable from rewind on
    rewind   in   go to the first output of the first tile of taps
    advance  in   go to the first output of the next tile of taps; not in the cycle behind advance
                  or rewind
    restart  in   go to the first output of this tile
    step     in   go to the next output. If several of these inputs are high, the first in this list
                  has priority.
    read     out  location of the elements of the windows

    tile: number of MACs along this axis, and of banks. Throughput: an output per cycle. Reset:
    none, begin with rewind.
    """
    wide = (2 * tile).bit_length()

    # For the first output of the current tile of taps and of the next one; for the current output
    # and the next one.
    first, next_first = RegionPlace(design, tile), RegionPlace(design, tile)
    output, next_output = RegionPlace(design, tile), RegionPlace(design, tile)
    later = RegionPlace(design, tile)  # next_first, of the previous cycle

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
            if place < output.split:
                next_block[bank] = True
                covered[bank] = reach < output.left
            else:
                covered[bank] = place < output.left and not output.before
        read.on.next = covered
        read.following.next = next_block
        read.shift.next = output.split
        read.here.next = output.here
        read.beyond.next = output.beyond

    @always(clk.posedge)
    def move() -> None:
        later.split.next = next_first.split
        later.here.next = next_first.here
        later.beyond.next = next_first.beyond
        later.left.next = next_first.left
        later.before.next = next_first.before
        if rewind:
            first.split.next = config.split
            first.before.next = config.before
            first.here.next = 0
            output.split.next = config.split
            output.before.next = config.before
            output.here.next = 0
            if config.before:
                first.beyond.next = 0
                first.left.next = config.size + config.mask + 1
                output.beyond.next = 0
                output.left.next = config.size + config.mask + 1
            else:
                first.beyond.next = config.block_words
                first.left.next = config.size
                output.beyond.next = config.block_words
                output.left.next = config.size
        elif advance:
            first.split.next = later.split
            first.here.next = later.here
            first.beyond.next = later.beyond
            first.left.next = later.left
            first.before.next = later.before
            output.split.next = later.split
            output.here.next = later.here
            output.beyond.next = later.beyond
            output.left.next = later.left
            output.before.next = later.before
        elif restart:
            output.split.next = first.split
            output.here.next = first.here
            output.beyond.next = first.beyond
            output.left.next = first.left
            output.before.next = first.before
        elif step:
            output.split.next = next_output.split
            output.here.next = next_output.here
            output.beyond.next = next_output.beyond
            output.left.next = next_output.left
            output.before.next = next_output.before

    moves = (
        region_move(
            clk, config, split=config.step_split, words=config.step_words, size=config.step_size,
            place=output, moved=next_output,
        ),
        region_move(
            clk, config, split=config.tile_split, words=config.tile_words, size=config.tile_size,
            place=first, moved=next_first,
        ),
    )  # fmt: skip
    return tell, move, moves
