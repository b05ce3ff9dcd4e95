"""Golden order of slots: strategy 3, with positions interleaved in pairs; or along rows.

CNN-MERP section IV.D: all products of an output position complete before the next begins. In a
kernel update a position outputs nothing. Therefore a row can be swept for each kernel.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from merp.models.base.shape import Shape
from merp.models.machines.cnn_merp.params.design import EngineDesign
from merp.models.machines.cnn_merp.params.registers import pairs_across_rows
from merp.models.machines.cnn_merp.params.sizing import groups_of


class SlotOrder(NamedTuple):
    """One slot: output position (raster order over the images), lane, input map, group."""

    position: int
    lane: int
    channel: int
    group: int


def pairs(shape: Shape, images: int, design: EngineDesign) -> Iterator[tuple[int, ...]]:
    """Yield the positions that are computed together, one or two at a time, in raster order."""
    columns = shape.out_columns
    total = images * shape.out_rows * columns
    across = pairs_across_rows(shape, design, images)
    position = 0
    while position < total:
        last_in_row = position % columns == columns - 1
        if design.p == 2 and position + 1 < total and (across or not last_in_row):
            yield position, position + 1
            position += 2
        else:
            yield (position,)
            position += 1


def slots(shape: Shape, images: int, design: EngineDesign) -> Iterator[SlotOrder]:
    """Yield all slots of a run in order."""
    for together in pairs(shape, images, design):
        for channel in range(shape.n):
            for lane, position in enumerate(together):
                for group in range(groups_of(shape, design.n_cu)):
                    yield SlotOrder(position, lane, channel, group)


class RowSlotOrder(NamedTuple):
    """One slot of a sweep: row of outputs (over all images), input map, group, column."""

    row: int
    channel: int
    group: int
    column: int


def row_slots(shape: Shape, images: int, design: EngineDesign) -> Iterator[RowSlotOrder]:
    """Yield all slots of a kernel update in rows (``ku_kind = "row"``) in order."""
    for row in range(images * shape.out_rows):
        for channel in range(shape.n):
            for group in range(groups_of(shape, design.n_cu)):
                for column in range(shape.out_columns):
                    yield RowSlotOrder(row, channel, group, column)
