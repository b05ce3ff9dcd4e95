"""Cycles of a convolution module: the closed formula, and a model of its beats one by one."""

from random import Random

import pytest

from merp.models.base.shape import Shape
from merp.models.machines.fcnn.conv_cycles import cycles
from merp.models.machines.fcnn.params.conv_registers import ConvDesign, StreamRun
from merp.models.machines.fcnn.params.stream_design import StreamDesign
from merp.testbenches.fcnn.conv_bench import random_run


def design(k: int, lanes: int = 1, maps: int = 1, add_latency: int = 4) -> StreamDesign:
    return StreamDesign(
        k=k, lanes=lanes, maps_at_once=maps, max_rows=30, max_columns=30, max_maps=9, max_step=3,
        max_stride=3, add_latency=add_latency,
    )  # fmt: skip


@pytest.mark.parametrize(("k", "pad"), [(3, 1), (5, 2), (5, 3), (3, 2), (1, 0)])
def test_the_closed_formula(k: int, pad: int) -> None:
    """n ceil(M/m) passes of Rg Cg B/G beats, the lead once, and the latency."""
    shape = Shape(n=3, m=5, k=k, rows=12, columns=9, pad=pad)
    run = StreamRun.forward(shape, 6, design(k, 2, 2))
    rows, columns = (max(each) for each in ((12, shape.out_rows), (9, shape.out_columns)))
    step, latency = 3, ConvDesign(run.design).latency
    lead = ((k - 1 - pad) * columns + k - 1 - pad) * step
    passes = 3 * 3 * rows * columns * step
    assert run.grid.pass_beats > latency
    first = max(lead, 2 * k * k)  # the first kernels load meanwhile
    assert cycles(run) == passes + first + latency


def modelled(run: StreamRun) -> int:
    """The last cycle, from a cycle for each beat: each rule of the hardware by itself."""
    grid, shape, latency = run.grid, run.grid.shape, ConvDesign(run.design).latency
    issued: list[int] = []
    kernels_free = 1  # when the next set may begin to load
    now, last = 0, 0
    for beat in range(grid.beats):
        now += 1
        centre = beat - grid.lead
        at, place = divmod(centre, grid.pass_beats)
        row, column = divmod(place // grid.step, grid.columns)
        counts = (
            centre >= 0 and row % shape.stride == 0 == column % shape.stride
            and row // shape.stride < shape.out_rows and column // shape.stride < shape.out_columns
            and at < grid.passes
        )  # fmt: skip
        if counts and place == 0:
            block = at // shape.n
            maps = grid.last_maps if block == grid.blocks - 1 else run.design.maps_at_once
            now = max(now, kernels_free + maps * shape.taps)
        if counts and at % shape.n:
            now = max(now, issued[beat - grid.pass_beats] + latency + 1)
        if counts and place == 0:
            kernels_free = now + 1
        issued.append(now)
        last = max(last, now + latency if counts else now)
    return last


@pytest.mark.parametrize("k", [1, 2, 3, 4])
def test_a_model_of_each_beat_agrees(k: int) -> None:
    rng = Random(k)
    for _ in range(60):
        own = design(k, rng.choice((1, 2)), rng.randint(1, 4), rng.randint(1, 5))
        run = random_run(own, rng, 8, 5)
        assert cycles(run) == modelled(run), run
