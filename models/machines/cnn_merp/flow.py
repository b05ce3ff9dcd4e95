"""Cycle model of flow control: when words are accepted and slots are issued.

It formulates the rules a second time, in absolute rows and columns. The hardware's cycle counters
are checked against it to the cycle. A rule that is only too strict computes the right bits, so no
other check would find it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from merp.models.base.compiled_code import compiled
from merp.models.base.folded_shape import FoldedShape, run_shape
from merp.models.base.memory import check_memory
from merp.models.base.shape import Shape
from merp.models.machines.cnn_merp.params.design import EngineDesign
from merp.models.machines.cnn_merp.params.latencies import DELTA_ARRIVAL, ORIGIN_READ
from merp.models.machines.cnn_merp.params.sizing import groups_of
from merp.models.machines.cnn_merp.slots import pairs

POSITION = 8 * 3 * 5
"""Bytes of a position during the computation of its five numbers, each from up to three others."""


@dataclass(frozen=True)
class InputFlow:
    """Cycles of the input side; a word is offered in every cycle, and sums never wait for space.

    Attributes:
        fill: from the first accepted word to the first slot.
        issue: slots.
        stall_input, stall_hazard: cycles without a slot between the first and the last slot.
    """

    fill: int
    issue: int
    stall_input: int
    stall_hazard: int


def keep_and_need(shape: Shape, images: int) -> NDArray[np.int64]:
    """Return for each position: needed row and column, first kept row, the next row's, first
    column.

    (images * out_rows * out_columns, 5); rows count over all images.

    Raises:
        BadInput: there are too many positions for this machine's memory.
    """
    positions = images * shape.out_rows * shape.out_columns
    check_memory(f"cycles of {positions:,} positions", POSITION * positions)
    image, row, column = np.meshgrid(
        np.arange(images), np.arange(shape.out_rows), np.arange(shape.out_columns), indexing="ij"
    )
    base = image * shape.rows
    top = row * shape.stride - shape.top
    left = column * shape.stride - shape.left
    below = np.where(
        row == shape.out_rows - 1, shape.rows, np.maximum(0, top + shape.stride)
    )  # after the last row of windows the whole image may be dropped
    return np.stack(
        [
            base + np.minimum(shape.rows - 1, top + shape.k - 1),
            np.minimum(shape.columns - 1, left + shape.k - 1),
            base + np.maximum(0, top),
            base + below,
            np.maximum(0, left),
        ],
        axis=-1,
    ).reshape(-1, 5)


class MapStream(NamedTuple):
    """The stream of map words, in the form that compiled code uses.

    Attributes:
        rows, columns: of all images.
        n: input maps.
        kept: rows that the banks hold.
        folded: whether words arrive map by map.
        port: elements of a word.
    """

    rows: int
    columns: int
    n: int
    kept: int
    folded: bool
    port: int


def map_stream(shape: Shape, images: int, design: EngineDesign) -> MapStream:
    """Return the stream of a run; ``shape`` is the one that the hardware runs."""
    return MapStream(
        images * shape.rows,
        shape.columns,
        shape.n,
        design.d * design.k,
        isinstance(shape, FoldedShape),
        design.map_port,
    )


class Origins(NamedTuple):
    """The stream of partial sums at which positions start, in the form that compiled code uses.

    Attributes:
        m: sums of a position; 0 without such a stream.
        n_cu: sums of a word.
        room: words that fit the FIFO.
        release: cycles until the place of a word is free again.
        lead: cycles until the first word arrives.
    """

    m: int
    n_cu: int
    room: int
    release: int
    lead: int


def input_flow(
    shape: Shape, images: int, design: EngineDesign, partial_in: bool = False, lead: int = 0
) -> InputFlow:
    """Walk every cycle of a run; with ``partial_in`` its sums start at those of a stream.

    lead: cycles until the first of these sums arrives.

    Raises:
        ValueError: the run does not end (the rows kept cannot hold a window).
    """
    shape = run_shape(shape, design.k)
    together = list(pairs(shape, images, design))
    starts = np.array([p[0] for p in together], np.int64)
    sizes = np.array([len(p) for p in together], np.int64)
    groups = groups_of(shape, design.n_cu)
    origins = Origins(
        shape.m if partial_in else 0,
        design.n_cu,
        2 * design.p * groups,
        design.cu_latency + ORIGIN_READ,
        lead,
    )
    fill, issue, waits, hazards = _walk(
        keep_and_need(shape, images),
        starts,
        sizes,
        map_stream(shape, images, design),
        groups,
        design.accumulate_latency,
        origins,
    )
    if fill < 0:
        raise ValueError(f"{shape} does not run on {design.d * design.k} kept rows")
    return InputFlow(int(fill), int(issue), int(waits), int(hazards))


def continued_flow(shape: Shape, images: int, design: EngineDesign) -> InputFlow:
    """Return the cycles of a run whose sums start at partial sums."""
    return input_flow(shape, images, design, partial_in=True)


def added_flow(shape: Shape, images: int, design: EngineDesign) -> InputFlow:
    """Return the cycles of a run whose sums start at added maps plus their biases."""
    return input_flow(shape, images, design, partial_in=True, lead=design.added_latency)


def _slots(
    positions: NDArray[np.int64], starts: NDArray[np.int64], sizes: NDArray[np.int64],
    maps: MapStream, groups: int, distance: int, origins: Origins,
) -> int:  # fmt: skip
    return len(positions) * maps.n * groups


@compiled(_slots)
def _walk(
    positions: NDArray[np.int64],
    starts: NDArray[np.int64],
    sizes: NDArray[np.int64],
    maps: MapStream,
    groups: int,
    distance: int,
    origins: Origins,
) -> tuple[int, int, int, int]:
    rows, columns, n, kept, folded, port = maps
    m, n_cu, room, release, lead = origins
    # Partial sums, if there are any (m): a word of n_cu partial sums per group and position.
    partial = 0  # the next one of its position
    partials_left = len(positions) if m else 0
    words = 0  # number of words at which a position may start
    filled = np.full(DELTA_ARRIVAL, 0)  # words in the pipeline, by cycle modulo its length
    freed = np.full(release, 0)
    # The next word to be written. In a folded map, the map's last word represents all of them.
    row = column = channel_in = tap = 0
    if folded:
        row = column = columns - 1
    seen = (0, 0, 0)  # the same one cycle ago; it decides whether a window has arrived
    pair = lane = channel = group = 0
    last_start = np.full(2, -distance)
    fill = issue = waits = hazards = 0
    idle = 0
    cycle = 0
    while pair < len(starts):
        words += filled[cycle % DELTA_ARRIVAL]
        filled[cycle % DELTA_ARRIVAL] = 0
        room += freed[cycle % release]
        freed[cycle % release] = 0
        partial_taken = cycle >= lead and partials_left > 0 and room > 0

        # The oldest position that still needs elements. After the last window of a pair has been
        # read (its first slot), it is the first position of the next pair.
        reading_over = channel == n - 1 and lane == sizes[pair] - 1 and group > 0
        oldest = starts[pair] + sizes[pair] if reading_over else starts[pair]
        accept = row < rows
        if accept and oldest < len(positions):
            first, following, first_column = positions[oldest, 2:]
            accept = row < first + kept or (row < following + kept and column < first_column)

        position = starts[pair] + lane
        need_row, need_column = positions[position, 0], positions[position, 1]
        arrived = seen > (need_row, need_column, channel)
        arrived = arrived and (m == 0 or channel > 0 or words >= groups)
        seen = (row, column, channel_in)
        if group > 0 or (arrived and (channel == 0 or cycle - last_start[lane] >= distance)):
            if group == 0:
                last_start[lane] = cycle
                if m and channel == 0:
                    words -= groups
            if m and channel == 0:
                freed[cycle % release] += 1
            issue += 1
            idle = 0
            group += 1
            if group == groups:
                group = 0
                lane += 1
                if lane == sizes[pair]:
                    lane = 0
                    channel += 1
                    if channel == n:
                        channel = 0
                        pair += 1
        else:
            idle = (
                0 if accept or partial_taken else idle + 1
            )  # a window as large as the map waits for every word
            if issue == 0:
                fill += 1
            elif not arrived:
                waits += 1
            else:
                hazards += 1
            if idle > distance + release:
                return -1, 0, 0, 0

        if partial_taken:
            partial += min(port, n_cu - partial % n_cu, m - partial)
            if partial % n_cu == 0 or partial == m:
                room -= 1
                filled[cycle % DELTA_ARRIVAL] += 1
            if partial == m:
                partial = 0
                partials_left -= 1
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
