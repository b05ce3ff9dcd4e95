"""Cycle model of results behind the sums, where several pooling windows hang over an edge.

Positions behind the last row and column complete windows, a window per position. Meanwhile sums
wait in their FIFO, and when it is full, slots wait for a place. Sums are assumed to come at an even
pace. Therefore the model is not exact to the cycle.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from merp.models.base.compiled_code import compiled
from merp.models.base.shape import Shape
from merp.models.machines.cnn_merp.fused_flow import closing
from merp.models.machines.cnn_merp.leaving_sums import RESULT_PLACES
from merp.models.machines.cnn_merp.params.design import EngineDesign
from merp.models.machines.cnn_merp.params.sizing import beats_of, groups_of

WALKED = 4
"""Images that are walked. Every further one is assumed to equal the last."""


class _Stage(NamedTuple):
    """Sums and results of a run, in the form that compiled code uses.

    Attributes:
        rows, columns: of sums.
        pace: cycles from a position's sums to the next ones.
        places: for sums, in positions.
        least: cycles of a position's beats.
        held: words of results that wait for the port while beats continue.
    """

    rows: int
    columns: int
    pace: float
    places: int
    least: int
    held: int


class LateFlow(NamedTuple):
    """Cycles of a run that its results add to those of its sums.

    Attributes:
        waits: in which slots wait for a place for their sums.
        drain: from the last sum to the last result.
    """

    waits: int
    drain: int


def late_flow(shape: Shape, images: int, design: EngineDesign, busy: int) -> LateFlow:
    """Walk the positions of a run.

    busy: cycles of the slots of all images, without waits for a place.
    """
    groups = groups_of(shape, design.n_cu)
    last = -(-(shape.m - (groups - 1) * design.n_cu) // design.r)
    beats = int(beats_of(groups - 1, design)) + last
    leaving = np.where(closing(shape), design.map_words(shape.m), 0).astype(np.int64)
    stage = _Stage(
        rows=shape.out_rows,
        columns=shape.out_columns,
        pace=busy / (images * shape.out_rows * shape.out_columns),
        places=design.fifo_words // groups,
        least=max(beats, design.pool_latency),
        held=RESULT_PLACES * design.map_words(shape.m) // beats,
    )
    few = min(images, WALKED)
    waits, drain = _walk(leaving, few, stage)
    if images > few:
        before, _ = _walk(leaving, few - 1, stage)
        waits += (images - few) * (waits - before)
    return LateFlow(round(waits), round(drain))


def _positions(leaving: NDArray[np.int64], images: int, stage: _Stage) -> int:
    return leaving.size * images


@compiled(_positions)
def _walk(leaving: NDArray[np.int64], images: int, stage: _Stage) -> tuple[float, float]:
    """Return the cycles of waits, and those from the last sums to the last result.

    leaving: words of results of each position of an image, those behind the sums included.
    """
    rows, columns, pace, places, least, held = stage
    begun = np.zeros(places)  # of the last positions with sums, in a ring
    came = finish = port = 0.0
    count = 0
    for _ in range(images):
        for row in range(leaving.shape[0]):
            for column in range(leaving.shape[1]):
                begin = finish
                if row < rows and column < columns:
                    came = max(came + pace, begun[count % places])
                    begin = max(came, finish)
                    begun[count % places] = begin
                    count += 1
                finish = begin + least
                if leaving[row, column] > 0:
                    port = max(port, begin) + leaving[row, column]
                    finish = max(finish, port - held)
    return came - count * pace, max(port, finish) - came
