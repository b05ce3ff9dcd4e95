"""Count traffic by walking the schedule: every filter of one image, with a model of each memory.

The model has memories instead of formulas: resident kernels, a window register, accumulators, a
ring of rows for the map stream, open pooling windows. A word counts when it is needed and not on
chip, or when it is output. CNN-MERP section IV names the strategies. The loop order is that
of the hardware: position, input map, group of CUs.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from merp.models.base.compiled_code import compiled
from merp.models.base.folded_shape import FoldedShape, run_shape
from merp.models.base.input_part import WHOLE, InputPart
from merp.models.base.shape import Shape
from merp.models.machines.cnn_merp.params.design import EngineDesign
from merp.models.traffic.strategies import LEVELS


@dataclass(frozen=True)
class Counts:
    """Words of one image of one group that cross each port.

    ``sums`` are partial sums, finished sums or pooled outputs, depending on the strategies. The
    sums at which a pass starts are ``sums_in``. The sums for the next pass are ``sums_out``. Added
    maps of another layer are ``added``. Kernels and biases that stay on chip are counted once, for
    all images.
    """

    maps: int
    kernels: int
    biases: int
    sums: int
    sums_in: int
    sums_out: int
    added: int


def walk(
    shape: Shape,
    level: str,
    n_cu: int,
    rings: int = 1,
    dilation: int = 1,
    part: InputPart = WHOLE,
) -> Counts:
    """Walk the schedule of one image with the strategies ``level`` (one of ``LEVELS``).

    From strategy 4 on, ``rings`` times k rows of every input map are kept. Without strategy 4,
    windows are read whole, including padding, because maps are stored padded. With ``dilation``
    above 1, only every ``dilation``-th row and column of the map is streamed. The zeros between
    them are generated on chip. The zeros that fill up the last map of a folded layer are also
    generated on chip. ``part`` is the part of the layer's input maps that ``shape`` has.
    """
    pool = shape.pool
    geometry = np.array(
        [shape.n, shape.m, shape.k, shape.rows, shape.columns, shape.stride]
        + [shape.top, shape.left, shape.taps]
        + [shape.out_rows, shape.out_columns, shape.pooled_rows, shape.pooled_columns]
        + ([pool.window, pool.stride, pool.top, pool.left] if pool else [1, 1, 0, 0]),
        np.int64,
    )
    kept = rings * shape.k
    lacking = shape.filling if isinstance(shape, FoldedShape) else 0
    counts = _walk(
        geometry, LEVELS.index(level), n_cu, kept, dilation, part.first, part.last, part.added,
        lacking,
    )  # fmt: skip
    return Counts(*(int(x) for x in counts))


def port_words(
    shape: Shape, images: int, design: EngineDesign, part: InputPart = WHOLE
) -> dict[str, int]:
    """Return the words that cross each port in the forward pass of one group on ``design``.

    One image is walked: all images of a run are alike, and kernels are loaded once. ``part`` is the
    part of the layer's input maps that ``shape`` has.
    """
    counts = walk(run_shape(shape, design.k), LEVELS[-1], design.n_cu, design.d, part=part)
    return {
        "map_in": images * counts.maps,
        "map_out": images * counts.sums,
        "kernel": counts.kernels,
        "bias": counts.biases,
        **words_of_sums(counts, images, design),
    }


def words_of_sums(counts: Counts, images: int, design: EngineDesign) -> dict[str, int]:
    """Return the words of partial sums and of added maps, if ``design`` has ports for them."""
    found = {}
    if design.partial:
        found = {"partial_in": images * counts.sums_in, "partial_out": images * counts.sums_out}
    return found | ({"add_in": images * counts.added} if design.added else {})


def _taps(
    geometry: np.ndarray, level: int, n_cu: int, kept: int, dilation: int, starts: bool,
    ends: bool, adds: bool, lacking: int,
) -> int:  # fmt: skip
    n, m, k = geometry[:3]
    return int(geometry[9] * geometry[10] * n * (k * k + m))


@compiled(_taps)
def _walk(
    geometry: np.ndarray,
    level: int,
    n_cu: int,
    kept: int,
    dilation: int,
    starts: bool,
    ends: bool,
    adds: bool,
    lacking: int,
) -> tuple[int, int, int, int, int, int, int]:
    n, m, k, rows, columns, stride, above, before, taps = geometry[:9]
    out_rows, out_columns, pooled_rows, pooled_columns = geometry[9:13]
    maps = kernels = biases = sums = sums_in = sums_out = added = 0
    kernel_kept = np.zeros((m, n), np.bool_)
    bias_kept = np.zeros(m, np.bool_)
    ring = np.full((kept, columns, n), -1)  # the row that each place contains
    streamed = 0  # elements of the map stream that have arrived
    terms = np.zeros(m, np.int64)  # summed up in each accumulator
    pooling = np.zeros((pooled_rows, pooled_columns, m), np.int64)  # elements seen by each window
    for out_row in range(out_rows):
        top = out_row * stride - above
        for out_column in range(out_columns):
            left = out_column * stride - before
            for i in range(n):
                window_held = False
                for first in range(0, m, n_cu):
                    for j in range(first, min(first + n_cu, m)):
                        if level < 1 or not kernel_kept[j, i]:
                            kernels += taps - (lacking if i == n - 1 else 0)
                            kernel_kept[j, i] = True
                        if level < 2 or not window_held:
                            if level < 4:
                                maps += k * k
                            else:
                                bottom, right = min(top + k, rows), min(left + k, columns)
                                wanted = ((bottom - 1) * columns + right - 1) * n + i
                                maps += _stream(ring, streamed, wanted, dilation, lacking)
                                streamed = max(streamed, wanted + 1)
                                maps += _missing(ring, top, bottom, left, right, i, dilation)
                            window_held = True
                        if not starts:
                            if terms[j] == 0:  # nothing is there to add to
                                sums_in += 1
                        elif not bias_kept[j]:
                            biases += 1
                            bias_kept[j] = True
                        if adds and terms[j] == 0:
                            added += 1
                        terms[j] += 1
                        if level >= 3 and terms[j] < n:
                            continue
                        terms[j] = 0
                        if not ends:
                            sums_out += 1
                        elif level < 5:
                            sums += 1
                        else:
                            sums += _pool(pooling[:, :, j], out_row, out_column, geometry[9:])
    if level >= 4:  # the stream also contains elements that no window needs
        maps += _stream(ring, streamed, rows * columns * n - 1, dilation, lacking)
    return maps, kernels, biases, sums, sums_in, sums_out, added


@compiled()
def _stream(ring: np.ndarray, streamed: int, wanted: int, dilation: int, lacking: int) -> int:
    """Advance the map stream (row, column, map) into the ring up to element ``wanted``.

    Returns the elements that were read from outside. The last ``lacking`` taps of a folded layer's
    last map are not; their rows are those of the ring.
    """
    kept, columns, n = ring.shape
    came = 0
    for element in range(streamed, wanted + 1):
        row, place = element // (columns * n), element % (columns * n)
        ring[row % kept, place // n, place % n] = row
        tap = row * columns + place // n
        folded_away = lacking > 0 and place % n == n - 1 and tap >= columns**2 - lacking
        if row % dilation == 0 and place // n % dilation == 0 and not folded_away:
            came += 1
    return came


@compiled()
def _missing(
    ring: np.ndarray, top: int, bottom: int, left: int, right: int, i: int, dilation: int
) -> int:
    """Return the elements of a window that the ring has overwritten, and that must be read
    again.
    """
    missing = 0
    for row in range(max(0, top), bottom):
        for column in range(max(0, left), right):
            made_here = row % dilation != 0 or column % dilation != 0
            if ring[row % ring.shape[0], column, i] != row and not made_here:
                missing += 1
    return missing


@compiled()
def _pool(seen: np.ndarray, row: int, column: int, geometry: np.ndarray) -> int:
    """Add an element to the pooling windows over it; return the number of completed windows.

    A window is complete when it has all its elements inside the map.
    """
    rows, columns, _, _, window, stride, above, before = geometry
    done = 0
    first_row, last_row = windows_over(row + above, window, stride, seen.shape[0])
    first, last = windows_over(column + before, window, stride, seen.shape[1])
    for r in range(first_row, last_row):
        top = r * stride - above
        height = min(top + window, rows) - max(0, top)
        for c in range(first, last):
            left = c * stride - before
            seen[r, c] += 1
            if seen[r, c] == height * (min(left + window, columns) - max(0, left)):
                done += 1
    return done


@compiled()
def windows_over(place: int, window: int, stride: int, windows: int) -> tuple[int, int]:
    """Return the first and last (exclusive) windows over a place, counted from the first's
    begin.
    """
    return max(0, -((window - 1 - place) // stride)), min(place // stride + 1, windows)
