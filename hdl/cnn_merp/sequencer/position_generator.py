"""Output positions in raster order, each with the data that its windows use.

Source: CNN-MERP, section IV.D and figure 4 (the walk of the window), section VI.B (only valid
positions).
"""

from __future__ import annotations

from typing import Any

from myhdl import always, always_comb, block, intbv

from merp.hdl.base.signals import count, flag
from merp.hdl.cnn_merp.ports.maps import FoldRowConfig, MapConfig
from merp.hdl.cnn_merp.ports.windows import PositionHead
from merp.hdl.cnn_merp.sequencer.position_decoder import WindowPlace, position_decoder
from merp.hdl.cnn_merp.sequencer.ring_advance import ring_advance
from merp.hdl.conversion.entity import Bit, Word, entity
from merp.models.machines.cnn_merp.params.design import EngineDesign


@block
def _stages(
    clk: Bit,
    rst: Bit,
    start: Bit,
    active: Bit,
    head: PositionHead,
    steps: Bit,
    loads: Bit,
) -> Any:
    """Two stages behind the walk: the first step of the decoder, and the head.

    steps  out  the walk advances, and its position enters. loads: the head takes the position of
                the first step
    """
    take, valid = head.take, head.valid
    summed = flag()  # position_decoder holds a position after its first step

    @always_comb
    def flow() -> None:
        loads.next = summed and (take or not valid)
        steps.next = active and (take or not valid or not summed)

    @always(clk.posedge)
    def hand_on() -> None:
        if steps:
            summed.next = True
        elif loads:
            summed.next = False
        if loads:
            valid.next = True
        elif take:
            valid.next = False
        if start or rst:
            summed.next = False
            valid.next = False

    return flow, hand_on


@block
def _columns(image: Word, config: MapConfig, fold: FoldRowConfig, columns: Word) -> Any:
    """Return the columns of the current row; the first row may be shorter."""

    @always_comb
    def of_row() -> None:
        columns.next = config.out_columns
        if image == 0:
            columns.next = fold.first_images

    return of_row


@block
def _sweeps(
    clk: Bit,
    start: Bit,
    config: MapConfig,
    steps: Bit,
    end_of_row: Bit,
    end_of_sweeps: Bit,
    design: EngineDesign,
) -> Any:
    """Compute whether the current row has been listed config.sweeps times."""
    sweeps_left = count(design.kernel_words)  # sweeps left of this row, this one included
    again = flag()  # the current row is listed once more

    @always_comb
    def end() -> None:
        end_of_sweeps.next = end_of_row and not again

    @always(clk.posedge)
    def sweep() -> None:
        if steps and end_of_row:
            if again:
                sweeps_left.next = sweeps_left - 1
                again.next = sweeps_left != 2
            else:
                sweeps_left.next = config.sweeps
                again.next = config.sweeps != 1
        if start:
            sweeps_left.next = config.sweeps
            again.next = config.sweeps != 1

    return end, sweep


@entity
def position_generator(
    clk: Bit,
    rst: Bit,
    start: Bit,
    config: MapConfig,
    head: PositionHead,
    design: EngineDesign,
    sweeps: bool = False,
    fold: FoldRowConfig | None = None,
) -> Any:
    """List the output positions of a run.

    sweeps: each row is listed config.sweeps times (a RowMapConfig).

    Rows and columns are kept in padded coordinates (the window of position (r, c) starts at row
    r*stride), so that nothing is negative. Padded row x is map row x - pad. In a design for it,
    padded column x is map column x - pad_left.

    fold  in   (with sweeps) images are the columns of a row, and the first row may be shorter
    head  out  the position; take: it is used in this cycle

    Latency: the first head follows start by 3 cycles. Throughput: a position per cycle. Reset: no
    position is valid.
    """
    k = design.k
    d = design.d
    last_ring = d - 1

    active = flag()  # the walk is at a position
    steps, loads = flag(), flag()
    at = WindowPlace(design)
    out_row, out_column = count(design.max_size), count(design.max_size)
    image = count(design.max_images)
    image_mod = count(k)  # place in the ring of the first window row of the image
    image_ring = count(d)
    next_image_mod, next_row_mod = count(k), count(k)
    next_image_ring, next_row_ring = count(d), count(d)
    end_of_row, end_of_image, end_of_run = (flag() for _ in range(3))
    end_of_sweeps = flag() if sweeps else end_of_row
    above, place, lower = config.pad, at, ()
    if design.sided:
        # The walk assumes that a window begins as far above the map as left of it.
        place = at.but(row_mod=count(k), row_ring=count(d))
        lower = ring_advance(
            mod=at.row_mod,
            ring=at.row_ring,
            mod_step=config.lower_mod,
            ring_step=config.lower_ring,
            mod_after=place.row_mod,
            ring_after=place.row_ring,
            k=k,
            d=d,
        )
        config = config.but(pad=config.pad_left)
    uneven: Any = ()
    if fold is not None:
        columns = count(design.max_size)
        uneven = _columns(image=image, config=config, fold=fold, columns=columns)
        config = config.but(out_columns=columns)

    @always_comb
    def borders() -> None:
        end_of_row.next = out_column + 1 == config.out_columns
        at.last_row.next = out_row + 1 == config.out_rows

    @always_comb
    def ends() -> None:
        end_of_image.next = end_of_sweeps and at.last_row
        end_of_run.next = end_of_sweeps and at.last_row and image + 1 == config.images

    @always_comb
    def mark() -> None:
        at.final.next = end_of_run
        at.alone.next = end_of_run or (end_of_row and not config.pair_rows)

    @always(clk.posedge)
    def walk() -> None:
        # Wide enough for the sum of two places: VHDL would wrap a narrower sum.
        column_mod = intbv(0, min=0, max=2 * k)
        column_mod[:] = at.column_mod + config.stride_mod
        if steps:
            if end_of_run:
                active.next = False
            if end_of_row:
                out_column.next = 0
                at.left.next = 0
                if config.pad == 0:
                    at.column_mod.next = 0
                    at.column_next.next = config.inputs
                else:
                    at.column_mod.next = k - config.pad
                    at.column_next.next = 0
            else:
                out_column.next = out_column + 1
                at.left.next = at.left + config.stride
                if column_mod >= k:
                    at.column_mod.next = column_mod - k
                    at.column_next.next = at.column_next + config.stride_words + config.inputs
                else:
                    at.column_mod.next = column_mod
                    at.column_next.next = at.column_next + config.stride_words
            if end_of_image:
                image.next = image + 1
                at.image_row.next = at.image_row + config.rows
                at.line.next = at.image_row + config.rows
                out_row.next = 0
                at.top.next = 0
                at.row_mod.next = next_image_mod
                at.row_ring.next = next_image_ring
                image_mod.next = next_image_mod
                image_ring.next = next_image_ring
            elif end_of_sweeps:
                out_row.next = out_row + 1
                at.top.next = at.top + config.stride
                at.line.next = at.line + config.stride
                at.row_mod.next = next_row_mod
                at.row_ring.next = next_row_ring
        if start:
            active.next = True
            image.next = 0
            at.image_row.next = 0
            at.line.next = 0
            out_row.next = 0
            out_column.next = 0
            at.top.next = 0
            at.left.next = 0
            if config.pad == 0:
                image_mod.next = 0
                image_ring.next = 0
                at.row_mod.next = 0
                at.row_ring.next = 0
                at.column_mod.next = 0
                at.column_next.next = config.inputs
            else:
                image_mod.next = k - config.pad
                image_ring.next = last_ring
                at.row_mod.next = k - config.pad
                at.row_ring.next = last_ring
                at.column_mod.next = k - config.pad
                at.column_next.next = 0
        if rst:
            active.next = False

    next_image = ring_advance(
        mod=image_mod,
        ring=image_ring,
        mod_step=config.rows_mod,
        ring_step=config.rows_ring,
        mod_after=next_image_mod,
        ring_after=next_image_ring,
        k=k,
        d=d,
    )
    next_row = ring_advance(
        mod=at.row_mod,
        ring=at.row_ring,
        mod_step=config.stride_mod,
        ring_step=config.stride_ring,
        mod_after=next_row_mod,
        ring_after=next_row_ring,
        k=k,
        d=d,
    )
    entry = position_decoder(
        clk, config=config.but(pad=above), at=place, sums=steps, loads=loads, head=head.word,
        design=design,
    )  # fmt: skip
    stages = _stages(clk, rst, start, active=active, head=head, steps=steps, loads=loads)
    instances = stages, borders, ends, mark, walk, next_image, next_row, entry, lower
    if not sweeps:
        return instances
    again = _sweeps(
        clk,
        start,
        config=config,
        steps=steps,
        end_of_row=end_of_row,
        end_of_sweeps=end_of_sweeps,
        design=design,
    )
    return instances, again, uneven
