"""Order of elements on the streams: each word by its place."""

import numpy as np

from merp.models.base.formats import BFLOAT16
from merp.models.base.shape import Shape
from merp.models.machines.fcnn.params.conv_registers import StreamRun
from merp.models.machines.fcnn.params.grid import Grid
from merp.models.machines.fcnn.params.stream_design import StreamDesign
from merp.models.machines.fcnn.stream_order import (
    gradient_streams,
    gradient_words,
    gradients_of,
    kernel_words,
    map_words,
    partial_words,
    sum_words,
    sums_of,
)

DESIGN = StreamDesign(
    fmt=BFLOAT16, k=2, lanes=2, maps_at_once=2, max_rows=20, max_columns=20, max_maps=9, max_step=3
)


def test_maps_kernels_and_sums() -> None:
    """Two images at once and two maps of three: every word by its place."""
    run = StreamRun.forward(Shape(n=2, m=3, k=2, rows=2, columns=3), 4, DESIGN)
    x = np.arange(4 * 2 * 3 * 2, dtype=np.uint32).reshape(4, 2, 3, 2)
    words = map_words(x, run.grid)
    assert words.shape == (run.grid.passes * run.grid.map_beats, 2)
    assert words[0].tolist() == [x[0, 0, 0, 0], x[1, 0, 0, 0]]
    assert words[1].tolist() == [x[2, 0, 0, 0], x[3, 0, 0, 0]]
    assert words[2].tolist() == [x[0, 0, 1, 0], x[1, 0, 1, 0]]
    assert words[12].tolist() == [x[0, 0, 0, 1], x[1, 0, 0, 1]]
    assert np.array_equal(words[24:], words[:24])
    kernels = np.arange(3 * 2 * 4, dtype=np.uint32).reshape(3, 2, 2, 2)
    order = [(0, 0), (1, 0), (0, 1), (1, 1), (2, 0), (2, 1)]
    assert kernel_words(kernels, run.design).tolist() == [
        word for m, n in order for word in kernels[m, n].ravel().tolist()
    ]
    sums = np.arange(2 * 4 * 1 * 2 * 3, dtype=np.uint32).reshape(2, 4, 1, 2, 3) + 1
    words = sum_words(sums, run.grid)
    assert words.shape == (16, 4)
    assert words[0].tolist() == [sums[0, i, 0, 0, m] for m in (0, 1) for i in (0, 1)]
    assert words[1].tolist() == [sums[0, i, 0, 0, m] for m in (0, 1) for i in (2, 3)]
    assert words[4].tolist() == [sums[1, i, 0, 0, m] for m in (0, 1) for i in (0, 1)]
    assert words[8].tolist() == [*(sums[0, i, 0, 0, 2] for i in (0, 1)), 0, 0]
    assert np.array_equal(sums_of(words, run.grid), sums)
    back = partial_words(sums, run)
    assert np.array_equal(back, np.concatenate([words[:4], words[8:12]]))
    begun = StreamRun.forward(run.grid.shape, 4, run.design, begun=True)
    earlier = partial_words(sums, begun, sums[0] + 100)
    assert len(earlier) == len(words)
    assert np.array_equal(earlier[4:8], words[:4])
    assert np.array_equal(earlier[0], words[0] + 100)


def test_deltas_and_gradients() -> None:
    """Both input maps meet the deltas of each block; a bias comes with the first input map."""
    grid = Grid(Shape(n=2, m=3, k=2, rows=2, columns=3), 4, DESIGN)
    x = np.arange(4 * 2 * 3 * 2, dtype=np.uint32).reshape(4, 2, 3, 2)
    delta = np.arange(4 * 1 * 2 * 3, dtype=np.uint32).reshape(4, 1, 2, 3) + 100
    maps, deltas = gradient_streams(grid, x, delta, filler=7)
    assert np.array_equal(maps, map_words(x, grid))
    first = [[delta[i, 0, 0, m] for m in (0, 1) for i in images] for images in ((0, 1), (2, 3))]
    assert deltas[:2].tolist() == first
    assert deltas[4:6].tolist() == first  # with the second input map
    assert deltas[2].tolist() == [delta[i, 0, 1, m] for m in (0, 1) for i in (0, 1)]
    assert deltas[8].tolist() == [delta[0, 0, 0, 2], delta[1, 0, 0, 2], 7, 7]
    assert len(deltas) == 16
    kernels = np.arange(3 * 2 * 4, dtype=np.uint32).reshape(3, 2, 2, 2)
    biases = np.array([50, 51, 52], np.uint32)
    words = gradient_words(kernels, biases, DESIGN)
    assert words.tolist() == [
        50, *range(4), 51, *range(8, 12), *range(4, 8), *range(12, 16), 52, *range(16, 24),
    ]  # fmt: skip
    found = gradients_of(words, grid.shape, DESIGN)
    assert np.array_equal(found[0], kernels)
    assert np.array_equal(found[1], biases)
