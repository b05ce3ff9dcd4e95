"""Walk of a window over the passes of a run: inputs and blanks, centres that count, and masks.

Source: F-CNN section IV, the input controller of a module, and its equation 1 with a stride.
"""

from __future__ import annotations

from typing import Any

from myhdl import always, always_comb, block

from merp.hdl.base.loop_index import loop_index
from merp.hdl.base.registers import RegisterBundle
from merp.hdl.base.signals import bits, flag
from merp.hdl.base.tap_mask import tap_mask
from merp.hdl.conversion.entity import Bit, Word, entity
from merp.models.machines.fcnn.params.grid_registers import GRID
from merp.models.machines.fcnn.params.stream_design import StreamDesign


class GridConfig(RegisterBundle):
    """Run-time registers of the walk, from the table ``GRID``."""

    def __init__(self, design: StreamDesign) -> None:
        super().__init__(GRID, design)

    @classmethod
    def within(cls, config: RegisterBundle, design: StreamDesign) -> GridConfig:
        """Return the registers of the walk that the registers of a module contain."""
        own = cls(design)
        return own.but(**{name: vars(config)[name] for name in vars(own)})


class GridPlace:
    """Present place of a walk.

    walking        beats of the run are left
    takes          the beat is an element of a map for each lane; otherwise it is a blank
    last_input     with takes: it is the last of the run
    counts         the beat completes a window that gives an output
    begins         the window is the first one of a pass; it counts
    ends           the window counts and is the last one of its pass
    opens          the window's pass is the first one of a block
    closes         the window's pass is the last one of a block
    last_block     the window's block is the last one
    final          the window counts and is the last one of the run
    rows, columns  a bit for each row and column of taps: it lies inside the map
    """

    def __init__(self, design: StreamDesign) -> None:
        self.walking, self.takes, self.last_input = flag(), flag(), flag()
        self.counts, self.begins, self.ends = flag(), flag(), flag()
        self.opens, self.closes, self.last_block, self.final = flag(), flag(), flag(), flag()
        self.rows, self.columns = bits(design.k), bits(design.k)


@block
def _spaced(clk: Bit, begin: Bit, step: Bit, period: Word, places: Word, on: Bit, last: Bit) -> Any:
    """Mark every period-th place along an axis, up to a number of places.

    begin  in   go to the first place, which is marked
    step   in   go to the next one
    on     out  the place is marked; last: it is the last marked one

    Reset: none, begin with begin.
    """
    wait, left = bits(len(period)), bits(len(places))

    @always_comb
    def tell() -> None:
        on.next = wait == 0 and left != 0
        last.next = wait == 0 and left == 1

    @always(clk.posedge)
    def follow() -> None:
        if step:
            if wait == 0:
                wait.next = period - 1
                if left != 0:
                    left.next = left - 1
            else:
                wait.next = wait - 1
        if begin:
            wait.next = 0
            left.next = places

    return tell, follow


class _Loops:
    """Ends of the loops of a walk, from the innermost outwards."""

    def __init__(self) -> None:
        self.beat, self.column, self.row, self.map, self.block = (flag() for _ in range(5))


@block
def _loops(
    clk: Bit,
    start: Bit,
    advance: Bit,
    config: GridConfig,
    final: _Loops,
    next_column: Bit,
    next_row: Bit,
    next_pass: Bit,
    next_block: Bit,
) -> Any:
    """Walk over blocks, maps, rows, columns and beats of a column; the last is innermost.

    final   out  the beat is in the last iteration of each loop
    next_*  out  the beat is taken, and another column, row, pass or block follows
    """
    sizes = (
        config.step, config.grid_columns, config.grid_rows, config.inputs, config.blocks,
    )  # fmt: skip
    beat, column, row, at_map, at_block = (bits(len(size)) for size in sizes)

    @always_comb
    def carry() -> None:
        next_column.next = advance and final.beat
        next_row.next = advance and final.beat and final.column
        next_pass.next = advance and final.beat and final.column and final.row
        next_block.next = advance and final.beat and final.column and final.row and final.map

    return (
        carry,
        loop_index(clk, start, step=advance, size=config.step, index=beat, final=final.beat),
        loop_index(
            clk, start, step=next_column, size=config.grid_columns, index=column,
            final=final.column,
        ),
        loop_index(
            clk, start, step=next_row, size=config.grid_rows, index=row, final=final.row
        ),
        loop_index(
            clk, start, step=next_pass, size=config.inputs, index=at_map, final=final.map
        ),
        loop_index(
            clk, start, step=next_block, size=config.blocks, index=at_block, final=final.block
        ),
    )  # fmt: skip


@block
def _newest(
    clk: Bit, start: Bit, advance: Bit, config: GridConfig, takes: Bit, last_input: Bit
) -> Any:
    """Follow the newest beat: whether a map has an element there."""
    final = _Loops()
    next_column, next_row, next_pass, next_block = (flag() for _ in range(4))
    row_on, row_last, column_on, column_last = (flag() for _ in range(4))
    to_row, to_map = flag(), flag()

    @always_comb
    def tell() -> None:
        takes.next = row_on and column_on
        last_input.next = row_last and column_last and final.beat and final.map and final.block

    @always_comb
    def begin() -> None:
        to_row.next = start or next_row
        to_map.next = start or next_pass

    return (
        tell,
        begin,
        _loops(
            clk, start, advance=advance, config=config, final=final, next_column=next_column,
            next_row=next_row, next_pass=next_pass, next_block=next_block,
        ),
        _spaced(
            clk, begin=to_map, step=next_row, period=config.dilation, places=config.rows,
            on=row_on, last=row_last,
        ),
        _spaced(
            clk, begin=to_row, step=next_column, period=config.dilation, places=config.columns,
            on=column_on, last=column_last,
        ),
    )  # fmt: skip


@block
def _centre(clk: Bit, start: Bit, advance: Bit, config: GridConfig, place: GridPlace) -> Any:
    """Follow the window that the newest beat completes, once its first one is complete."""
    final = _Loops()
    before = bits(len(config.lead))
    there, moves, fresh, first_map = (flag() for _ in range(4))
    next_column, next_row, next_pass, next_block = (flag() for _ in range(4))
    row_on, row_last, column_on, column_last = (flag() for _ in range(4))
    to_row, to_map = flag(), flag()

    @always_comb
    def arrive() -> None:
        there.next = before == 0
        moves.next = before == 0 and advance

    @always_comb
    def tell() -> None:
        place.counts.next = there and row_on and column_on
        place.begins.next = there and fresh
        place.ends.next = there and row_last and column_last and final.beat
        place.opens.next = first_map
        place.closes.next = final.map
        place.last_block.next = final.block
        place.final.next = (
            there and row_last and column_last and final.beat and final.map and final.block
        )

    @always_comb
    def begin() -> None:
        to_row.next = start or next_row
        to_map.next = start or next_pass

    @always(clk.posedge)
    def follow() -> None:
        if advance and before != 0:
            before.next = before - 1
        if moves:
            fresh.next = next_pass
        if next_pass:
            first_map.next = next_block
        if start:
            before.next = config.lead
            fresh.next = True
            first_map.next = True

    return (
        arrive,
        tell,
        begin,
        follow,
        _loops(
            clk, start, advance=moves, config=config, final=final, next_column=next_column,
            next_row=next_row, next_pass=next_pass, next_block=next_block,
        ),
        _spaced(
            clk, begin=to_map, step=next_row, period=config.stride, places=config.out_rows,
            on=row_on, last=row_last,
        ),
        _spaced(
            clk, begin=to_row, step=next_column, period=config.stride,
            places=config.out_columns, on=column_on, last=column_last,
        ),
        tap_mask(
            clk, begin=to_map, step=next_row, first=config.first_rows, beyond=config.rows_beyond,
            mask=place.rows,
        ),
        tap_mask(
            clk, begin=to_row, step=next_column, first=config.first_columns,
            beyond=config.columns_beyond, mask=place.columns,
        ),
    )  # fmt: skip


@entity
def grid_walk(
    clk: Bit,
    rst: Bit,
    start: Bit,
    advance: Bit,
    config: GridConfig,
    place: GridPlace,
    design: StreamDesign,
) -> Any:
    """Follow the newest beat of a run, and the window that it completes.

    start    in   the next beat is the first one; registers are stable from here on
    advance  in   the beat is taken, and the next one follows; only while walking

    The loops are, from the outermost: blocks of output maps, input maps, rows, columns, and beats
    of a column. Passes follow without a gap. The window lags the newest beat by lead beats, and
    everything about the window follows its own pass: a tap that already holds a beat of the next
    pass lies outside the map. The walk ends with the last window that counts or the last input,
    whichever is later. Latency: none, every output describes the present beat. Throughput: a beat
    per cycle. Reset: not walking.
    """
    takes, last_input = flag(), flag()
    centre = GridPlace(design)
    inputs_left, outputs_left = flag(), flag()

    @always_comb
    def tell() -> None:
        place.walking.next = inputs_left or outputs_left
        place.takes.next = inputs_left and takes
        place.last_input.next = inputs_left and last_input
        place.counts.next = outputs_left and centre.counts
        place.begins.next = outputs_left and centre.begins
        place.ends.next = outputs_left and centre.ends
        place.final.next = outputs_left and centre.final

    @always_comb
    def pass_on() -> None:
        place.opens.next = centre.opens
        place.closes.next = centre.closes
        place.last_block.next = centre.last_block
        place.rows.next = centre.rows
        place.columns.next = centre.columns

    @always(clk.posedge)
    def follow() -> None:
        if advance and last_input:
            inputs_left.next = False
        if advance and centre.final:
            outputs_left.next = False
        if start:
            inputs_left.next = True
            outputs_left.next = True
        if rst:
            inputs_left.next = False
            outputs_left.next = False

    return (
        tell,
        pass_on,
        follow,
        _newest(
            clk, start, advance=advance, config=config, takes=takes, last_input=last_input
        ),
        _centre(clk, start, advance=advance, config=config, place=centre),
    )  # fmt: skip
