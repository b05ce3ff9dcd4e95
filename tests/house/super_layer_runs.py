"""Runs of the super layer in a trace, and the stalls of its sinks."""

from itertools import pairwise

import numpy as np

from merp.models.base.shape import Pool, Shape
from merp.models.machines.cnn_merp.params.design import EngineDesign
from merp.testbenches.block.trace import Trace
from merp.testbenches.cnn_merp.random_layers import random_slope
from merp.testbenches.cnn_merp.super_layer_bench import SuperLayerRun

SPECIAL = [
    0x00000000, 0x80000000, 0x7FC00000, 0x7F800000, 0xFF800000, 0x00800000, 0x80800000, 0x7F7FFFFF,
    0xFF7FFFFF, 0x3F800000, 0xBF800000, 0x3F800001,
]  # fmt: skip
"""Zeros, NaN, infinities, and numbers at the ends of the format and around 1."""

AROUND_SIX = [0x40BFFFFF, 0x40C00000, 0x40C00001, 0x40BF0000, 0x40C10000, 0xC0C00000]
"""6, the numbers next to it in binary32 and in bfloat16, and -6."""


def spans_of(trace: Trace, runs: int) -> list[tuple[int, int]]:
    """From which cycle to which one each run goes; what a reset breaks off is none."""
    aborts = [c for c, rst in enumerate(trace.column("rst")) if rst]
    starts = [c for c, start in enumerate(trace.column("start")) if start]
    spans = list(pairwise([*starts, len(trace.rows)]))
    spans = [(a, b) for a, b in spans if not any(a < c < b for c in aborts)]
    assert len(spans) == runs, "not every run was begun"
    return spans


def shape_for(
    m: int,
    rows: int,
    columns: int,
    pool: Pool | None,
    relu: bool = True,
    relu6: bool = False,
    slope: int = 0,
) -> Shape:
    """A layer of kernels of one element."""
    return Shape(
        n=1, m=m, k=1, rows=rows, columns=columns, relu=relu, relu6=relu6, slope=slope, pool=pool
    )


def random_activation(
    rng: np.random.Generator, design: EngineDesign, relu: bool
) -> tuple[bool, bool, int]:
    """ReLU, mostly ReLU6 or leaky ReLU in a design for it: whether it stops, and its slope."""
    relu6 = design.relu6 and bool(rng.random() < 0.8)
    slope = 0
    if design.leaky and not relu6 and rng.random() < 0.8:
        relu, slope = True, random_slope(rng, design.fmt)
    return relu, relu6, slope


def pattern(rng: np.random.Generator, rare: float = 0.1) -> tuple[int, ...]:
    """When a sink is ready: always, or now and then."""
    if rng.random() < 0.3:
        return (1,)
    return (*(int(b) for b in rng.random(31) < rng.choice([rare, 0.5, 0.9])), 1)


def walked(run: SuperLayerRun) -> int:
    """Positions of a run, with those behind the sums that complete windows."""
    rows, columns = run.shape.late
    return len(run.sums) * (run.shape.out_rows + rows) * (run.shape.out_columns + columns)


def spans(elements: int, before: int, pool: Pool, pooled: int) -> list[tuple[int, int]]:
    """First index of each window along a direction, and the index that completes it.

    One index completes one window. Windows that end in the last index therefore take the indices
    behind it in turn.
    """
    found = []
    free = elements - 1
    for number in range(pooled):
        begin = number * pool.stride - before
        close = begin + pool.window - 1
        if close >= elements - 1:
            close, free = free, free + 1
        found.append((max(0, begin), close))
    return found
