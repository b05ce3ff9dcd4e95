"""Walk over the beats of maps before pooling: which window each belongs to, and where it lies."""

from __future__ import annotations

from typing import Any

from myhdl import always, always_comb, block, intbv

from merp.hdl.base.loop_index import loop_index
from merp.hdl.base.registers import RegisterBundle
from merp.hdl.base.signals import bits, count, flag
from merp.hdl.conversion.entity import Bit, Word
from merp.models.machines.fcnn.params.pool_design import PoolDesign
from merp.models.machines.fcnn.params.pool_registers import POOL, UNPOOL


class PoolConfig(RegisterBundle):
    """Run-time registers of activation and pooling, from the table ``POOL``."""

    def __init__(self, design: PoolDesign) -> None:
        super().__init__(POOL, design)


class FcnnUnpoolConfig(RegisterBundle):
    """Run-time registers of backward propagation, from the table ``UNPOOL``."""

    def __init__(self, design: PoolDesign) -> None:
        super().__init__(UNPOOL, design)


class PoolPlace:
    """Where the current beat lies.

    inside   in a window
    first    it is the first element of its window; closes: the last one
    code     position in the window, row * window + column (with pooling)
    address  place of the window in the memory of a row (with pooling)
    final    it is the last beat of the run; ends: it closes the last window of the run
    """

    def __init__(self, design: PoolDesign) -> None:
        self.inside, self.first, self.closes = flag(), flag(), flag()
        self.final, self.ends = flag(), flag()
        if design.pools:
            self.code = bits(design.code_bits)
            self.address = count(design.row_words - 1)


class _Axis:
    """Where the current beat lies along an axis; the flags are those of ``PoolPlace``.

    place    element of its window, or of the gap behind it
    moves    the next element is the first of the next window
    ends     it is in the last window
    final    it is the last element of the axis
    """

    def __init__(self, design: PoolDesign) -> None:
        self.place = count(design.stride - 1)
        self.inside, self.first, self.closes = flag(), flag(), flag()
        self.moves, self.ends, self.final = flag(), flag(), flag()


@block
def _pool_axis(
    clk: Bit,
    start: Bit,
    step: Bit,
    elements: Word,
    windows: Word,
    axis: _Axis,
    design: PoolDesign,
) -> Any:
    """Follow an axis of a map.

    step  in  go to the next element; the first one follows the last

    Reset: none, begin with start.
    """
    window, stride = design.window, design.stride
    left, windows_left = bits(len(elements)), bits(len(windows))

    @always_comb
    def tell() -> None:
        axis.inside.next = axis.place < window and windows_left != 0
        axis.first.next = axis.place == 0 and windows_left != 0
        axis.closes.next = axis.place == window - 1  # fewer elements follow the last window
        axis.moves.next = axis.place == stride - 1 and windows_left > 1
        axis.ends.next = windows_left == 1
        axis.final.next = left == 1

    @always(clk.posedge)
    def walk() -> None:
        if step:
            left.next = left - 1
            if axis.place == stride - 1:
                axis.place.next = 0
                if windows_left != 0:
                    windows_left.next = windows_left - 1
            else:
                axis.place.next = axis.place + 1
            if left == 1:
                left.next = elements
                windows_left.next = windows
                axis.place.next = 0
        if start:
            left.next = elements
            windows_left.next = windows
            axis.place.next = 0

    return tell, walk


@block
def _pool_address(
    clk: Bit,
    start: Bit,
    advance: Bit,
    column_ends: Bit,
    row_ends: Bit,
    moves: Bit,
    address: Word,
) -> Any:
    """Follow the place of the current window in the memory of a row.

    A column of several beats has as many places. The beats of the next column of the same window
    have the same places again.
    """
    begin = bits(len(address))  # place of the first beat of this column
    following = bits(len(address))

    @always_comb
    def look() -> None:
        following.next = address
        if not column_ends or moves:
            following.next = address + 1
        elif row_ends:
            following.next = 0
        else:
            following.next = begin

    @always(clk.posedge)
    def walk() -> None:
        if advance:
            address.next = following
            if column_ends:
                begin.next = following
        if start:
            address.next = 0
            begin.next = 0

    return look, walk


@block
def pool_walk(
    clk: Bit, start: Bit, advance: Bit, config: RegisterBundle, place: PoolPlace, design: PoolDesign
) -> Any:
    """Follow the current beat: maps, rows, columns, beats of a column, the last one innermost.

    start    in   the next beat is the first one; registers are stable from here on
    advance  in   the beat is taken, and the next one follows
    place    out  where the beat lies

    Reset: none, begin with start.
    """
    window, row, column = design.window, _Axis(design), _Axis(design)
    beat, column_ends = count(design.max_step - 1), flag()
    next_column, next_row = flag(), flag()
    maps_left = bits(len(config.maps))

    @always_comb
    def step() -> None:
        next_column.next = advance and column_ends
        next_row.next = advance and column_ends and column.final

    @always(clk.posedge)
    def count_maps() -> None:
        if next_row and row.final:
            maps_left.next = maps_left - 1
        if start:
            maps_left.next = config.maps

    @always_comb
    def tell() -> None:
        place.inside.next = row.inside and column.inside
        place.first.next = row.first and column.first
        place.closes.next = row.closes and column.closes
        place.final.next = maps_left == 1 and row.final and column.final and column_ends
        place.ends.next = maps_left == 1 and row.ends and column.ends and column_ends

    parts: list[Any] = [
        step, count_maps, tell,
        loop_index(clk, start, step=advance, size=config.step, index=beat, final=column_ends),
        _pool_axis(
            clk, start, step=next_column, elements=config.columns, windows=config.pooled_columns,
            axis=column, design=design,
        ),
        _pool_axis(
            clk, start, step=next_row, elements=config.rows, windows=config.pooled_rows, axis=row,
            design=design,
        ),
    ]  # fmt: skip
    if not design.pools:
        return parts
    size, most = design.code_bits, ((1 << len(row.place)) - 1) * (window + 1)

    @always_comb
    def encode() -> None:
        # Behind a window, the number is larger than a position; it is not used there.
        code = intbv(0, min=0, max=most + 1)
        code[:] = row.place * window + column.place
        place.code.next = code[size:]

    parts += [
        encode,
        _pool_address(
            clk, start, advance=advance, column_ends=column_ends, row_ends=column.final,
            moves=column.moves, address=place.address,
        ),
    ]  # fmt: skip
    return parts
