"""Flow control of a kernel update in rows (``ku_kind = "row"``), row by row.

Beside ``models.position_flow``, which walks cycle by cycle: here a row of positions starts
when its maps and deltas are all there, and from then on its cycles are known.
"""

from __future__ import annotations

from merp.models.cnn_merp.flow import keep_and_need
from merp.models.params.cnn_merp.design import Design
from merp.models.params.cnn_merp.kernel_update_registers import revisit_cycles, row_rest
from merp.models.params.cnn_merp.latencies import DELTA_ARRIVAL, DELTA_LEAD, DELTA_RELEASE
from merp.models.params.cnn_merp.sizing import groups_of
from merp.models.params.shape import Shape

ROWS = 2  # of deltas that are kept


def row_walk(shape: Shape, images: int, design: Design) -> tuple[int, int, int, int]:
    """Cycles from the first accepted map word: fill, issue, stall_input, stall_hazard.

    A word is offered in every cycle on both streams.
    """
    groups, columns = groups_of(shape, design.n_cu), shape.out_columns
    rest = row_rest(shape, design)
    delta_rest = max(0, revisit_cycles(design) - shape.m)
    sweeps = shape.n * groups
    slots = sweeps * columns
    row_cycles = sweeps * (columns + rest) - rest  # from a row's first slot to its last
    kept = design.d * design.k
    first_element = min(design.n_cu, shape.m)  # elements of a row's first word
    other_elements = shape.m * columns - first_element + delta_rest * (columns - 1)

    rows = keep_and_need(shape, images)[::columns]
    written: list[int] = []  # cycle of each map row's last word
    last_slots: list[int] = []  # of each row of positions
    delta_next = -DELTA_LEAD  # the next delta word
    fill = waits = 0
    for need, *_ in rows:
        # A map row may come when the oldest row of positions leaves room for it.
        while len(written) <= need:
            oldest = next(
                (i for i, row in enumerate(rows) if row[2] + kept > len(written)), len(rows)
            )
            permitted = last_slots[oldest - 1] + 1 if oldest else 0
            begin = max(written[-1] + 1 if written else 0, permitted)
            written.append(begin + shape.columns * shape.n - 1)
        word = delta_next + first_element - 1
        if len(last_slots) >= ROWS:
            word = max(word, last_slots[-ROWS] + DELTA_RELEASE)
        delta_last = word + other_elements
        delta_next = delta_last + 1 + delta_rest
        there = max(written[need] + 1, delta_last + DELTA_ARRIVAL)
        if not last_slots:
            fill = begin_row = there
        else:
            free = last_slots[-1] + 1
            begin_row = max(free + rest, there)
            waits += max(0, min(begin_row, there) - free)
        last_slots.append(begin_row + row_cycles - 1)
    issue = slots * len(rows)
    hazards = last_slots[-1] + 1 - fill - issue - waits
    return int(fill), int(issue), int(waits), int(hazards)
