"""Read the gradients of a sweep from the second rank: per beat, a tap of a map of all lanes."""

from __future__ import annotations

from typing import Any

from myhdl import always, always_comb, block, concat, intbv

from merp.hdl.base.signals import count, flag
from merp.hdl.conversion.entity import Bit, entity
from merp.hdl.mac_array.ports.rounding import Readout
from merp.hdl.mac_array.ports.updates import ArrayUpdateConfig, SumBeat
from merp.models.machines.mac_array.params.design import ArrayDesign


class SweepsLeft:
    """The sweeps left in a pass, the current sweep included."""

    def __init__(self, design: ArrayDesign) -> None:
        self.rows = count(design.max_kernel)  # rows of taps
        self.columns = count(design.max_kernel)  # columns of taps
        self.inputs = count(design.max_maps)  # input maps
        self.outputs = count(design.max_maps)  # output maps
        self.at_bias = flag()  # the current beat holds bias gradients


@block
def _sweep_walk(
    clk: Bit,
    clear: Bit,
    config: ArrayUpdateConfig,
    sweep_ends: Bit,
    bias_ends: Bit,
    left: SweepsLeft,
    design: ArrayDesign,
) -> Any:
    """Go to the next sweep behind the last beat of taps, or of bias gradients."""

    @always(clk.posedge)
    def walk() -> None:
        if sweep_ends:
            if left.columns > config.side:
                left.columns.next = left.columns - config.side
            else:
                left.columns.next = config.kernel
                if left.rows > config.side:
                    left.rows.next = left.rows - config.side
                else:
                    left.rows.next = config.kernel
                    if left.inputs > config.regions:
                        left.inputs.next = left.inputs - config.regions
                    else:
                        left.inputs.next = config.inputs
                        left.at_bias.next = True
        if bias_ends:
            left.at_bias.next = False
            if left.outputs > design.pof:
                left.outputs.next = left.outputs - design.pof
        if clear:
            left.columns.next = config.kernel
            left.rows.next = config.kernel
            left.inputs.next = config.inputs
            left.outputs.next = config.outputs
            left.at_bias.next = False

    return walk


@entity
def sweep_drain(
    clk: Bit,
    rst: Bit,
    start: Bit,
    config: ArrayUpdateConfig,
    readout: Readout,
    permit: Bit,
    beat: SumBeat,
    design: ArrayDesign,
) -> Any:
    """Walk over the beats of a pass: tiles of output maps, groups of input maps, tiles of taps.

    config   in       sizes, stable from start on
    readout  in, out  reads the sums of a sweep from the second rank
    permit   in       the inputs of a beat have arrived, and there is room for its outputs
    beat     out      the beat that is read, in the cycle of place

    The beats of a sweep: its maps in the order of their regions, and for each map its taps inside
    the kernel, row by row. The last sweep of a tile of output maps is followed by the beat of its
    bias gradients. Throughput: a beat per cycle. Reset, and start: no sweep, the pass at its
    beginning.
    """
    copied, place, drained = readout.copied, readout.place, readout.drained
    pending, clear, go, map_done = (flag() for _ in range(4))
    group_done, last_beat, sweep_ends, bias_ends = (flag() for _ in range(4))
    left = SweepsLeft(design)
    at_bias = left.at_bias
    rows_left, columns_left, inputs_left = left.rows, left.columns, left.inputs
    row, column = count(design.poy - 1), count(design.pox - 1)  # of the tap in its region
    base_row, base_column = count(design.poy - 1), count(design.pox - 1)  # of the region
    region = count(design.pox)  # region in its row of regions, from 1
    last_row, last_column, last_across, last_region = flag(), flag(), flag(), flag()
    maps = count(design.pixels)  # maps of the sweep, up to the current one
    turn, first_turn = count(design.pof - 1), count(design.pof - 1)
    turn_bits, row_bits, column_bits = len(turn), len(row), len(column)
    reach = design.pixels.bit_length() + turn_bits

    @always_comb
    def compare() -> None:
        next_row = intbv(0)[row_bits + 1 :]
        next_column = intbv(0)[column_bits + 1 :]
        next_row[:] = row
        next_row[:] = next_row + 1
        next_column[:] = column
        next_column[:] = next_column + 1
        last_row.next = next_row == config.side or next_row >= rows_left
        last_column.next = next_column == config.side or next_column >= columns_left
        last_across.next = region == config.across
        last_region.next = maps == config.regions or maps >= inputs_left

    @always_comb
    def begin() -> None:
        clear.next = rst or start
        go.next = (copied or pending) and permit

    @always_comb
    def finish() -> None:
        map_done.next = last_row and last_column and last_region
        group_done.next = rows_left <= config.side and columns_left <= config.side

    @always_comb
    def close() -> None:
        sweep_ends.next = go and not at_bias and map_done
        bias_ends.next = go and at_bias
        last_beat.next = at_bias or (
            map_done and not (group_done and inputs_left <= config.regions)
        )

    @always(clk.posedge)
    def keep() -> None:
        if copied:
            pending.next = True
        if go and last_beat:
            pending.next = False
        if clear:
            pending.next = False

    @always(clk.posedge)
    def walk_regions() -> None:
        turned = intbv(0)[reach:]
        turned[:] = first_turn
        turned[:] = turned + config.regions
        if go and not at_bias:
            if not last_column:
                column.next = column + 1
            else:
                column.next = 0
                if not last_row:
                    row.next = row + 1
                else:
                    row.next = 0
                    maps.next = maps + 1
                    if turn == design.pof - 1:
                        turn.next = 0
                    else:
                        turn.next = turn + 1
                    if last_across or last_region:
                        region.next = 1
                        base_column.next = 0
                        if last_region:
                            base_row.next = 0
                        else:
                            base_row.next = base_row + config.side
                    else:
                        region.next = region + 1
                        base_column.next = base_column + config.side
            if sweep_ends:
                maps.next = 1
                turn.next = first_turn
                if group_done:
                    turn.next = turned[turn_bits:]
                    first_turn.next = turned[turn_bits:]
                    if inputs_left <= config.regions:
                        turn.next = 0
                        first_turn.next = 0
        if clear:
            row.next = 0
            column.next = 0
            base_row.next = 0
            base_column.next = 0
            region.next = 1
            maps.next = 1
            turn.next = 0
            first_turn.next = 0

    @always_comb
    def tell() -> None:
        mac_row = intbv(0)[row_bits:]
        mac_column = intbv(0)[column_bits:]
        mac_row[:] = base_row | row
        mac_column[:] = base_column | column
        place.next = concat(intbv(0)[1:], mac_row, mac_column)
        if at_bias:
            place.next = design.pixels
        drained.next = go and last_beat
        beat.valid.next = go
        beat.bias.next = at_bias
        beat.turn.next = 0
        if not at_bias:
            beat.turn.next = turn
        beat.lanes.next = design.pof
        if left.outputs < design.pof:
            beat.lanes.next = left.outputs

    sweeps = _sweep_walk(
        clk, clear, config=config, sweep_ends=sweep_ends, bias_ends=bias_ends, left=left,
        design=design,
    )  # fmt: skip
    return compare, begin, finish, close, keep, walk_regions, tell, sweeps
