"""Sums after each input map: the last ones are the golden convolution's."""

from random import Random

import numpy as np
import pytest

from merp.models.base.formats import BFLOAT16, BINARY32, FloatFormat
from merp.models.base.shape import Shape, sides
from merp.models.golden.convolution import convolution, partial_sums
from merp.models.golden.delta import delta_convolution, spread, swapped
from merp.models.machines.fcnn.params.conv_registers import StreamRun
from merp.models.machines.fcnn.params.stream_design import StreamDesign
from merp.models.machines.fcnn.partial_sums import dilated
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
