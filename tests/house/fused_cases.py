"""Random pairs of fused layers on a few elaborations: what several files of tests share."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from audited_runs import audited
from merp.cosim.engines.job import Job
from merp.cosim.engines.record import RunRecord
from merp.cosim.machines.cnn_merp.phases.fused_forward import (
    expect_fused_forward,
    fused_forward_run,
    fused_forward_top,
)
from merp.cosim.phases.expectation import Expectation, Pair
from merp.models.base.bits import Bits
from merp.models.base.errors import BadInput
from merp.models.base.formats import BFLOAT16, BINARY16, BINARY32, FloatFormat
from merp.models.base.fused_shape import FusedShape
from merp.models.base.shape import Pool, Shape
from merp.models.golden.in_memory import in_memory
from merp.models.golden.pooling import pool_maps
from merp.models.golden.state import keep_state, packed
from merp.models.golden.super_layer import super_layer
from merp.models.machines.cnn_merp.fused_pair import check_fused
from merp.models.machines.cnn_merp.params.design import EngineDesign
from merp.models.machines.cnn_merp.params.fused_design import FusedDesign
from merp.testbenches.cnn_merp.random_layers import random_hang, random_pad, random_slope
from merp.testbenches.top.run import Run


def design_for(
    first: tuple[int, int], second: tuple[int, int], groups: int, **chosen: Any
) -> FusedDesign:
    """Kernel size and CUs of either layer's engine; the rest is the same for both."""
    common: dict[str, Any] = dict(
        r=1, kernel_words=36, groups=8, row_words=80, max_size=14, max_maps=8, max_images=3,
        max_stride=3, fifo_words=16, pool_window=3, pool_overlap=2, pool_words=96, mul_latency=1,
        add_latency=2,
    )  # fmt: skip
    one, other = (
        EngineDesign(**(common | chosen | {"k": k, "n_cu": n})) for k, n in (first, second)
    )
    return FusedDesign(one, other, groups)


# Either layer with larger kernels, or more CUs; one group and two; with state and without.
ELABORATIONS: list[FusedDesign] = [
    design_for((3, 1), (2, 2), 2, fmt=BFLOAT16, d=2),
    design_for((2, 3), (3, 1), 1, fmt=BINARY16, average=True),
    design_for((3, 2), (3, 2), 2, fmt=BFLOAT16, state=True, average=True, sided=True),
    design_for((4, 1), (1, 2), 1, fmt=FloatFormat(6, 9), state=True, hanging=True, d=2),
    design_for((3, 2), (2, 2), 2, cu_kind="fused", r=2, p=2, d=2, state=True, add_latency=3),
    design_for((2, 2), (5, 1), 1, fmt=BINARY32, add_latency=5, mul_latency=3, p=2, d=2),
    design_for(
        (3, 2),
        (2, 1),
        1,
        fmt=BINARY16,
        state=True,
        average=True,
        hanging=True,
        far=True,
        pool_overlap=3,
        d=2,
    ),
    design_for(
        (3, 2), (2, 2), 2, fmt=BFLOAT16, leaky=True, state=True, average=True, mul_latency=2
    ),
]


def words(rng: np.random.Generator, fmt: FloatFormat, size: tuple[int, ...], wild: bool) -> Bits:
    """Numbers of similar size; wild ones are raw bits now and then."""
    exponent = rng.integers(fmt.bias - 2, fmt.bias + 2, size)
    magnitude = exponent << fmt.frac_bits | rng.integers(0, 1 << fmt.frac_bits, size)
    found = rng.integers(0, 2, size) << (fmt.width - 1) | magnitude
    if wild:
        found = np.where(rng.random(size) < 0.1, rng.integers(0, 1 << fmt.width, size), found)
    return found.astype(np.uint32)


@dataclass(frozen=True)
class Case:
    """Two layers, their arrays, and the pressure on their streams."""

    design: FusedDesign
    shape: FusedShape
    x: Bits
    first: Pair
    second: Pair
    stalls: dict[str, tuple[int, ...]]
    reset_at: int | None

    def run(self) -> Run:
        """Everything that goes into a run."""
        return fused_forward_run(
            self.shape, self.design, self.x, self.first, self.second, self.stalls, self.reset_at
        )

    def expected(self) -> Expectation:
        """What the layers do one after the other, group by group, on the golden models."""
        one, other, groups = self.shape
        storage, fmt = self.design.first.storage, self.design.first.fmt

        def layer(x: Bits, pair: Pair, shape: Shape, design: EngineDesign) -> tuple[Bits, Bits]:
            sums = super_layer(x, *pair, replace(shape, pool=None), fmt, design.summation)
            return sums, in_memory(pool_maps(sums, shape.pool, fmt), "maps", fmt, storage)

        sums, between = layer(self.x, self.first, one, self.design.first)
        made = []
        for group in range(groups):
            maps, own = (
                slice(group * other.n, (group + 1) * other.n),
                slice(group * other.m, (group + 1) * other.m),
            )
            pair = self.second[0][own], self.second[1][own]
            x = np.ascontiguousarray(between[..., maps])
            made.append(layer(x, pair, other, self.design.second))
        activation, golden = (np.concatenate(each, axis=-1) for each in zip(*made, strict=True))
        left: dict[str, Any] = {}
        if self.design.second.state:
            states = tuple(
                packed(keep_state(each, shape, "pooled", fmt), shape, fmt)
                for each, shape in ((sums, one), (activation, other))
            )
            left = {"between": between, "states": states}
        return expect_fused_forward(self.shape, len(self.x), self.design, golden, **left)


def _layer(
    rng: np.random.Generator, design: EngineDesign, n: int, m: int, rows: int, columns: int
) -> Shape:
    pool = None
    if rng.random() < 0.6:
        kind = "average" if design.average and rng.random() < 0.5 else "max"
        pool = Pool(kind=kind, window=int(rng.integers(1, 4)), stride=int(rng.integers(1, 4)))
        pool = random_hang(rng, pool, design.far) if design.hanging else pool
    shape = Shape(
        n=n, m=m, k=design.k, rows=rows, columns=columns, stride=int(rng.integers(1, 4)),
        pad=random_pad(rng, design, design.k), relu=bool(rng.random() < 0.7), pool=pool,
    )  # fmt: skip
    if design.leaky and rng.random() < 0.8:
        shape = replace(shape, slope=random_slope(rng, design.fmt))
    return shape


def _shape(rng: np.random.Generator, design: FusedDesign) -> tuple[FusedShape, int]:
    while True:
        images = int(rng.integers(1, 4))
        n, between, m = (int(rng.integers(1, 5)) for _ in range(3))
        if design.second.state and design.groups > 1:
            m = 8
        rows, columns = (int(rng.integers(3, 13)) for _ in range(2))
        try:
            one = _layer(rng, design.first, n, design.groups * between, rows, columns)
            other = _layer(rng, design.second, between, m, one.pooled_rows, one.pooled_columns)
            shape = FusedShape(one, other, design.groups)
            check_fused(shape, design, images, "random case")
        except (ValueError, BadInput):
            continue
        return shape, images


def arrays_for(
    rng: np.random.Generator, design: FusedDesign, shape: FusedShape, images: int, pressure: bool
) -> Case:
    """Random arrays of two layers, and patterns of stalls and a reset under pressure."""
    fmt, wild = design.first.fmt, bool(rng.random() < 0.4)
    one, other, groups = shape
    stalls = {
        stream.name: (
            *(
                int(bit)
                for bit in rng.random(int(rng.integers(3, 40))) < rng.choice([0.15, 0.5, 0.9])
            ),
            1,
        )
        for stream in fused_forward_top(design).ports.streams
        if pressure and rng.random() < 0.6
    }

    def parameters(maps: int, each: Shape) -> Pair:
        return (
            words(rng, fmt, (maps, each.n, each.k, each.k), wild),
            words(rng, fmt, (maps,), wild),
        )

    return Case(
        design=design,
        shape=shape,
        x=words(rng, fmt, (images, one.rows, one.columns, one.n), wild),
        first=parameters(one.m, one),
        second=parameters(groups * other.m, other),
        stalls=stalls,
        reset_at=int(rng.integers(5, 900)) if pressure and rng.random() < 0.3 else None,
    )


def case(seed: int, index: int, pressure: bool = True) -> Case:
    """The case of a seed on one of the elaborations."""
    rng = np.random.default_rng([seed, index, 0xFF])
    design = ELABORATIONS[index]
    return arrays_for(rng, design, *_shape(rng, design), pressure)


def play(cases: list[Case], engine: str = "myhdl", array: str = "behavioural") -> list[RunRecord]:
    """Run cases of one elaboration back to back, and audit each."""
    top = fused_forward_top(cases[0].design, array)
    job = Job(top, [each.run() for each in cases], limit=3000)
    return audited(job, engine, [each.expected() for each in cases])


def plain(index: int, seed: int, **changes: Any) -> Case:
    """Layers of full rate, large enough for both to run for a while."""
    rng = np.random.default_rng([seed, index])
    design = ELABORATIONS[index]
    k, behind = design.first.k, design.second.k
    m = 3 * design.groups
    pool = Pool(window=2, stride=2)
    one = Shape(n=2, m=m, k=k, rows=9, columns=8, pad=k // 2, pool=pool)
    rows, columns = one.pooled_rows, one.pooled_columns
    other = Shape(n=3, m=8, k=behind, rows=rows, columns=columns, pad=behind // 2)
    shape = FusedShape(one, other, design.groups)
    return replace(arrays_for(rng, design, shape, 1, False), **changes)
