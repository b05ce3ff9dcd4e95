"""Convert a partition with whole maps on whole units to the rows and slices of the simulation."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from math import ceil

from merp.models.papers.fpdeep.piece import Piece
from merp.models.papers.fpdeep.stage import LayerStage
from merp.models.rows.layout import LayerRows, Slice


def rows_of(some: Iterable[LayerStage]) -> tuple[LayerRows, ...]:
    """Return the layers of a pipeline as rows.

    Raises:
        ValueError: the input of a layer is not the output of the previous layer.
    """
    found = list(some)
    for front, behind in pairwise(found):
        if front.layer.outputs != behind.layer.inputs:
            raise ValueError(
                f"layer {behind.layer.name} takes {behind.layer.inputs:,} elements, not the "
                f"{front.layer.outputs:,} of {front.layer.name}"
            )
    ends = [*(stage.layer.shape.rows for stage in found[1:]), found[-1].layer.shape.pooled_rows]
    return tuple(_rows(stage, outputs) for stage, outputs in zip(found, ends, strict=True))


def _rows(stage: LayerStage, outputs: int) -> LayerRows:
    layer, shape = stage.layer, stage.layer.shape
    pool = shape.pool
    return LayerRows(
        name=layer.name,
        by_outputs=stage.by_outputs,
        inputs=shape.rows,
        sums=shape.out_rows,
        pooled=shape.pooled_rows,
        outputs=outputs,
        kernel=shape.k,
        stride=shape.stride,
        top=shape.top,
        window=pool.window if pool else 1,
        step=pool.stride if pool else 1,
        above=pool.top if pool else 0,
        input_words=layer.inputs,
        sum_words=layer.sums,
        output_words=layer.outputs,
    )


def units(piece: Piece) -> int:
    """Return the number of K x K units for each phase of a piece."""
    return int(piece.dsps) // (len(piece.stage.phases) * piece.stage.taps)


def phase_cycles(piece: Piece) -> int:
    """Return the cycles of one image in each phase; a unit processes one window per cycle."""
    return ceil(piece.share * piece.stage.macs / (piece.stage.taps * units(piece)))


def slices_of(pieces: Sequence[Piece]) -> tuple[Slice, ...]:
    """Return the slices of a cut in whole units.

    In the update, each multiplier of ku updates one kernel element per cycle.
    """
    order = list(dict.fromkeys(piece.stage for piece in pieces))
    return tuple(
        Slice(
            node=piece.node,
            layer=order.index(piece.stage),
            begin=piece.begin,
            end=piece.end,
            cycles=dict.fromkeys(piece.stage.phases, phase_cycles(piece)),
            update=ceil(
                piece.share * piece.stage.layer.kernels / (piece.stage.taps * units(piece))
            ),
        )
        for piece in pieces
    )
