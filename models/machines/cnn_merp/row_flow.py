"""Cycle model of the flow control of a kernel update in rows (``ku_kind = "row"``), row by row.

In contrast, ``models.position_flow`` walks cycle by cycle. Here a row of positions starts when all
its maps and deltas have arrived. From then on its cycles are known.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from merp.models.base.folded_shape import FoldedShape, run_shape
from merp.models.base.shape import Shape
from merp.models.machines.cnn_merp.flow import keep_and_need
from merp.models.machines.cnn_merp.params.design import EngineDesign
from merp.models.machines.cnn_merp.params.image_rows import image_rows
from merp.models.machines.cnn_merp.params.kernel_update_registers import (
    delta_beats,
    revisit_cycles,
    row_rest,
    sweeps_of,
)
from merp.models.machines.cnn_merp.params.latencies import DELTA_ARRIVAL, DELTA_LEAD, DELTA_RELEASE

ROWS = 2  # of deltas that are stored


@dataclass(frozen=True)
class _Rows:
    """The requirements of rows of positions.

    Attributes:
        columns: of each row.
        need: the last unit of map words that the row needs.
        keep: the first unit that the row needs.
        words: of each unit, which is a map row, or all images of a folded layer's row.
        kept: stored units.
    """

    columns: Sequence[int]
    need: Sequence[int]
    keep: Sequence[int]
    words: Sequence[int]
    kept: int


def _rows(shape: Shape, images: int, design: EngineDesign) -> _Rows:
    if isinstance(shape, FoldedShape):
        sizes = image_rows(shape, images, design).sizes
        every = range(len(sizes))
        words = [design.map_words(shape.n * design.taps) * size for size in sizes]
        return _Rows(sizes, every, every, words, design.d)
    rows = keep_and_need(shape, images)[:: shape.out_columns]
    words = [shape.columns * design.map_words(shape.n)] * (images * shape.rows)
    columns = [shape.out_columns] * len(rows)
    return _Rows(columns, rows[:, 0].tolist(), rows[:, 2].tolist(), words, design.d * design.k)


def row_walk(shape: Shape, images: int, design: EngineDesign) -> tuple[int, int, int, int]:
    """Return cycles from the first accepted map word: fill, issue, stall_input, stall_hazard.

    A word is offered in every cycle on both streams. Images of a folded layer are columns.
    """
    shape = run_shape(shape, design.k)
    rows = _rows(shape, images, design)
    sweeps = sweeps_of(shape, design)
    beats = delta_beats(shape, design)  # of deltas of a position
    delta_rest = max(0, revisit_cycles(design) - beats)
    first_element = min(design.n_cu // design.delta_beat, beats)  # beats of a row's first word

    written: list[int] = []  # cycle of each unit's last word
    last_slots: list[int] = []  # of each row of positions
    rest = 0  # after the row before
    delta_next = -DELTA_LEAD  # the next delta word
    fill = waits = 0
    for columns, need in zip(rows.columns, rows.need, strict=True):
        # A unit may arrive when the oldest row of positions leaves room for it.
        while len(written) <= need:
            oldest = next(
                (i for i, keep in enumerate(rows.keep) if keep + rows.kept > len(written)),
                len(rows.keep),
            )
            permitted = last_slots[oldest - 1] + 1 if oldest else 0
            begin = max(written[-1] + 1 if written else 0, permitted)
            written.append(begin + rows.words[len(written)] - 1)
        word = delta_next + first_element - 1
        if len(last_slots) >= ROWS:
            word = max(word, last_slots[-ROWS] + DELTA_RELEASE)
        delta_last = word + beats * columns - first_element + delta_rest * (columns - 1)
        delta_next = delta_last + 1 + delta_rest
        there = max(written[need] + 1, delta_last + DELTA_ARRIVAL)
        if not last_slots:
            fill = begin_row = there
        else:
            free = last_slots[-1] + 1
            begin_row = max(free + rest, there)
            waits += max(0, min(begin_row, there) - free)
        rest = row_rest(shape, design, columns)
        last_slots.append(begin_row + sweeps * (columns + rest) - rest - 1)
    issue = sweeps * sum(rows.columns)
    hazards = last_slots[-1] + 1 - fill - issue - waits
    return int(fill), int(issue), int(waits), int(hazards)
