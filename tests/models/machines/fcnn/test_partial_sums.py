"""Sums after each input map: the last ones are the golden convolution's, and streams keep order."""

from random import Random

import numpy as np
import pytest

from merp.models.base.formats import BFLOAT16, BINARY32, FloatFormat
from merp.models.base.shape import Shape, sides
from merp.models.golden.convolution import convolution, partial_sums
from merp.models.golden.delta import delta_convolution, spread, swapped
from merp.models.machines.fcnn.params.conv_registers import StreamRun
from merp.models.machines.fcnn.params.stream_design import StreamDesign
from merp.models.machines.fcnn.partial_sums import (
    dilated,
    kernel_words,
    map_words,
    partial_words,
    sum_words,
    sums_of,
)
from merp.testbenches.cnn_merp.cu_bench import elements
from merp.testbenches.fcnn.conv_bench import ConvJob, random_run


def design(k: int, lanes: int, maps: int, fmt: FloatFormat = BFLOAT16) -> StreamDesign:
    return StreamDesign(
        fmt=fmt, k=k, lanes=lanes, maps_at_once=maps, max_rows=20, max_columns=20, max_maps=9,
        max_step=3, max_stride=3,
    )  # fmt: skip


def drawn(run: StreamRun, rng: Random) -> ConvJob:
    return ConvJob.drawn(run, lambda count: elements(count, run.design.fmt, rng))


@pytest.mark.parametrize("fmt", [BFLOAT16, BINARY32])
@pytest.mark.parametrize("k", [1, 2, 3, 5])
def test_the_last_sums_are_the_golden_ones(k: int, fmt: FloatFormat) -> None:
    rng = Random(k)
    for _ in range(3):
        job = drawn(random_run(design(k, 2, 2, fmt), rng, 6, 4), rng)
        shape, run = job.run.grid.shape, job.run
        start = job.start if run.biased or run.begun else np.zeros(shape.m, np.uint32)
        maps = dilated(job.x, run)
        for given in range(shape.n):
            golden = partial_sums(
                maps[..., : given + 1], job.kernels[:, : given + 1], start, shape.stride,
                sides(shape.pad), fmt,
            )  # fmt: skip
            assert np.array_equal(job.sums[given], golden)


def test_forward_and_deltas_of_a_layer() -> None:
    rng, own = Random(1), design(3, 2, 2)
    layer = Shape(n=2, m=3, k=3, rows=8, columns=5, stride=2, pad=(1, 0, 2, 1))
    forward = drawn(StreamRun.forward(layer, 4, own), rng)
    y = convolution(forward.x, forward.kernels, forward.start, 2, layer.pad, own.fmt)
    assert np.array_equal(forward.sums[-1], y)
    back = drawn(StreamRun.deltas(layer, 4, own), rng)
    delta = delta_convolution(back.x, swapped(back.kernels), layer, own.fmt)
    assert np.array_equal(back.sums[-1], delta)
    top, left = back.run.grid.shape.top, back.run.grid.shape.left
    inside = spread(back.x, layer)[:, top:, left:]
    maps = dilated(back.x, back.run)
    assert np.array_equal(inside[:, : maps.shape[1], : maps.shape[2]], maps)


def test_streams_in_order() -> None:
    """Two images at once and two maps of three: every word by its place."""
    run = StreamRun.forward(Shape(n=2, m=3, k=2, rows=2, columns=3), 4, design(2, 2, 2))
    x = np.arange(4 * 2 * 3 * 2, dtype=np.uint32).reshape(4, 2, 3, 2)
    words = map_words(x, run)
    assert words.shape == (run.grid.passes * run.grid.map_beats, 2)
    assert words[0].tolist() == [x[0, 0, 0, 0], x[1, 0, 0, 0]]
    assert words[1].tolist() == [x[2, 0, 0, 0], x[3, 0, 0, 0]]
    assert words[2].tolist() == [x[0, 0, 1, 0], x[1, 0, 1, 0]]
    assert words[12].tolist() == [x[0, 0, 0, 1], x[1, 0, 0, 1]]
    assert np.array_equal(words[24:], words[:24])
    kernels = np.arange(3 * 2 * 4, dtype=np.uint32).reshape(3, 2, 2, 2)
    order = [(0, 0), (1, 0), (0, 1), (1, 1), (2, 0), (2, 1)]
    assert kernel_words(kernels, run).tolist() == [
        word for m, n in order for word in kernels[m, n].ravel().tolist()
    ]
    sums = np.arange(2 * 4 * 1 * 2 * 3, dtype=np.uint32).reshape(2, 4, 1, 2, 3) + 1
    words = sum_words(sums, run)
    assert words.shape == (16, 4)
    assert words[0].tolist() == [sums[0, i, 0, 0, m] for m in (0, 1) for i in (0, 1)]
    assert words[1].tolist() == [sums[0, i, 0, 0, m] for m in (0, 1) for i in (2, 3)]
    assert words[4].tolist() == [sums[1, i, 0, 0, m] for m in (0, 1) for i in (0, 1)]
    assert words[8].tolist() == [*(sums[0, i, 0, 0, 2] for i in (0, 1)), 0, 0]
    assert np.array_equal(sums_of(words, run), sums)
    back = partial_words(sums, run)
    assert np.array_equal(back, np.concatenate([words[:4], words[8:12]]))
    begun = StreamRun.forward(run.grid.shape, 4, run.design, begun=True)
    earlier = partial_words(sums, begun, sums[0] + 100)
    assert len(earlier) == len(words)
    assert np.array_equal(earlier[4:8], words[:4])
    assert np.array_equal(earlier[0], words[0] + 100)
