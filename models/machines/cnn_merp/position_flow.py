"""Cycle model of the flow control of a kernel update by positions (``ku_kind = "position"``).

It supplements ``models.flow``. Two limits are different here: the delta stream (m words per
position against n*G slots), and the revisit of a gradient.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from merp.models.base.compiled_code import compiled
from merp.models.base.folded_shape import run_shape
from merp.models.base.shape import Shape
from merp.models.machines.cnn_merp.flow import MapStream, keep_and_need, map_stream
from merp.models.machines.cnn_merp.params.design import EngineDesign
from merp.models.machines.cnn_merp.params.kernel_update_registers import delta_beats, revisit_cycles
from merp.models.machines.cnn_merp.params.latencies import DELTA_ARRIVAL, DELTA_LEAD, DELTA_RELEASE
from merp.models.machines.cnn_merp.params.sizing import groups_of


class DeltaStream(NamedTuple):
    """The stream of deltas, in the form that compiled code uses; all but ``rest`` count its beats.

    Attributes:
        m: of a position.
        n_cu: of a word.
        rest: idle cycles of the stream after a position.
    """

    m: int
    n_cu: int
    rest: int


def position_walk(shape: Shape, images: int, design: EngineDesign) -> tuple[int, int, int, int]:
    """Return cycles from the first accepted map word: fill, issue, stall_input, stall_hazard."""
    shape = run_shape(shape, design.k)
    distance = revisit_cycles(design)
    groups = groups_of(shape, design.n_cu)
    deltas = DeltaStream(
        delta_beats(shape, design),
        design.n_cu // design.delta_beat,
        max(0, distance - delta_beats(shape, design)),
    )
    counted = _walk(
        keep_and_need(shape, images),
        map_stream(shape, images, design),
        deltas,
        groups,
        max(0, distance - shape.n * groups),
    )
    fill, issue, waits, hazards = map(int, counted)
    return fill, issue, waits, hazards


@compiled()
def _walk(
    positions: NDArray[np.int64],
    maps: MapStream,
    deltas: DeltaStream,
    groups: int,
    rest: int,
) -> tuple[int, int, int, int]:
    rows, columns, n, kept, folded, port = maps
    m, n_cu, delta_rest = deltas
    # The next word to be written. In a folded map, the map's last word represents all of them.
    row = column = channel_in = tap = 0
    if folded:
        row = column = columns - 1
    seen = (0, 0, 0)  # the same one cycle ago; it decides whether a window has arrived
    position = channel = group = 0  # the next slot
    resting_until = 0
    delta_map = 0  # the next delta word
    deltas_left = len(positions)
    delta_from = -DELTA_LEAD
    room = 2 * groups
    words = 0  # number of words of CUs that a slot may use
    filled = np.full(DELTA_ARRIVAL, 0)  # words in the pipeline, by cycle modulo its length
    freed = np.full(DELTA_RELEASE, 0)
    fill = issue = waits = hazards = 0
    cycle = -DELTA_LEAD
    while position < len(positions):
        words += filled[cycle % DELTA_ARRIVAL]
        filled[cycle % DELTA_ARRIVAL] = 0
        room += freed[cycle % DELTA_RELEASE]
        freed[cycle % DELTA_RELEASE] = 0

        oldest = position
        if channel == n - 1 and group > 0:  # its last window has been read
            oldest = position + 1
        accept = cycle >= 0 and row < rows
        if accept and oldest < len(positions):
            first, following, first_column = positions[oldest, 2:]
            accept = row < first + kept or (row < following + kept and column < first_column)

        word_end = delta_map % n_cu == n_cu - 1 or delta_map == m - 1
        delta = deltas_left > 0 and cycle >= delta_from and (room > 0 or not word_end)

        need_row, need_column = positions[position, 0], positions[position, 1]
        arrived = seen > (need_row, need_column, channel)
        seen = (row, column, channel_in)
        opens = channel == 0 and group == 0
        supplied = arrived and (not opens or words >= groups)
        if group > 0 or (supplied and (not opens or cycle >= resting_until)):
            issue += 1
            if opens:
                words -= groups
            if channel == n - 1:
                freed[cycle % DELTA_RELEASE] += 1
            group += 1
            if group == groups:
                group = 0
                channel += 1
                if channel == n:
                    channel = 0
                    position += 1
                    resting_until = cycle + 1 + rest
        else:
            if issue == 0:
                fill += cycle >= 0
            elif not supplied:
                waits += 1
            else:
                hazards += 1

        if delta:
            if word_end:
                room -= 1
                filled[cycle % DELTA_ARRIVAL] += 1
            delta_map += 1
            if delta_map == m:
                delta_map = 0
                deltas_left -= 1
                delta_from = cycle + 1 + delta_rest
        if accept and folded:
            tap += port
            if tap >= columns * columns:
                tap -= columns * columns
                channel_in += 1
                if channel_in == n:
                    channel_in = tap = 0  # an image begins with a beat
                    row += columns
        elif accept:
            channel_in += port
            if channel_in >= n:
                channel_in = 0
                column += 1
                if column == columns:
                    column = 0
                    row += 1
        cycle += 1
    return fill, issue, waits, hazards
