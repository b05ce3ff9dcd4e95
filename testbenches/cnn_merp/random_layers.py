"""Random super layers on a fixed set of elaborations, reproducible by seed.

An elaboration fixes the parameters of a bitstream. Run-time registers, data and stall patterns of a
case are random. Some cases have a reset in mid-stream.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from merp.models.arithmetic.words import to_bits
from merp.models.base.bits import Bits
from merp.models.base.errors import BadInput
from merp.models.base.formats import BFLOAT16, BINARY16, BINARY32, FloatFormat
from merp.models.base.shape import Padding, Pool, Shape
from merp.models.machines.cnn_merp.params.design import EngineDesign
from merp.models.machines.cnn_merp.params.sizing import check_fits


def _design(k: int, n_cu: int, **chosen: int | bool | str | FloatFormat) -> EngineDesign:
    common: dict[str, int | bool | str | FloatFormat] = {
        "k": k, "n_cu": n_cu, "r": 1, "kernel_words": 18, "groups": 6, "row_words": 24,
        "max_size": 12, "max_maps": 4, "max_images": 4, "max_stride": 3, "fifo_words": 12,
        "pool_window": 4, "pool_overlap": 2, "pool_words": 64,
    }  # fmt: skip
    return EngineDesign(**(common | chosen))  # type: ignore[arg-type]


ELABORATIONS = (
    _design(1, 1, p=2, add_latency=1, mul_latency=1),
    _design(1, 4, r=4, average=True, fmt=BFLOAT16, max_stride=4),
    _design(2, 2, r=2, d=2, add_latency=2, average=True),
    _design(2, 3, r=2, p=2, fmt=BINARY16),
    _design(3, 1, add_latency=5, mul_latency=2, pool_window=1, pool_overlap=1, pool_words=1),
    _design(3, 2, r=1, p=2, d=2, fmt=BFLOAT16),
    _design(3, 4, r=3, d=3, p=2, average=True, fmt=FloatFormat(6, 9), pool_overlap=3),
    _design(4, 2, r=2, d=2, fmt=BINARY16, pool_overlap=4),
    _design(5, 1, d=2, fmt=BFLOAT16, add_latency=3),
    _design(5, 2, r=2, p=2, d=1, fmt=BINARY32, mul_latency=3),
    _design(2, 2, d=2, cu_kind="fused", fused_window=30, accumulator_precision=28),
    _design(3, 2, r=2, d=2, p=2, cu_kind="fused", fused_dsp=2, average=True),
)

FOLDED: tuple[tuple[int, dict[str, int | bool]], ...] = (
    (2, {"row_words": 40, "max_maps": 9, "kernel_words": 36}),
    (3, {}),
    (5, {"kernel_words": 24}),
    (6, {}),
    (8, {}),
    (10, {"state": True}),
    (11, {"max_maps": 7, "state": True}),
    (2, {"kernel_port": 8, "kernel_words": 36}),
    (5, {"kernel_port": 4, "kernel_words": 24}),
    (6, {"kernel_port": 2}),
    (8, {"kernel_port": 8}),
    (10, {"kernel_port": 4, "state": True}),
    (5, {"kernel_port": 4, "kernel_words": 24, "widened": True}),
    (8, {"kernel_port": 2, "widened": True}),
)
"""Elaborations that also run fully connected layers: indices, and their changed parameters."""

FOLDING = tuple(
    replace(ELABORATIONS[base], folded=True, **more)  # type: ignore[arg-type]
    for base, more in FOLDED
)

_WIDE: tuple[tuple[int, dict[str, int | bool]], ...] = (
    (0, {"map_port": 8}),
    (3, {"map_port": 2, "kernel_port": 4}),
    (5, {"map_port": 4}),
    (6, {"map_port": 8}),
    (7, {"map_port": 4}),
    (9, {"map_port": 2}),
    (11, {"map_port": 4, "kernel_port": 8, "state": True}),
    (5, {"map_port": 2, "folded": True}),
    (6, {"map_port": 8, "folded": True}),
    (8, {"map_port": 4, "folded": True, "kernel_port": 4}),
    (11, {"map_port": 8, "folded": True, "kernel_port": 2}),
    (1, {"map_port": 4, "state": True}),
    (6, {"map_port": 8, "state": True}),
)

WIDE = tuple(
    replace(ELABORATIONS[base], max_maps=13, kernel_words=60, row_words=48, **more)  # type: ignore[arg-type]
    for base, more in _WIDE
)
"""Elaborations whose maps have several elements per beat."""


_SHAPED: tuple[tuple[int, dict[str, int | bool]], ...] = (
    (3, {"sided": True}),
    (5, {"sided": True, "folded": True}),
    (9, {"sided": True, "kernel_port": 4}),
    (2, {"widened": True}),
    (6, {"widened": True, "sided": True, "folded": True}),
    (7, {"widened": True, "state": True}),
    (9, {"widened": True}),
    (11, {"widened": True, "sided": True}),
    (6, {"widened": True, "kernel_port": 4}),
    (9, {"widened": True, "kernel_port": 8}),
    (11, {"widened": True, "sided": True, "kernel_port": 2}),
    (2, {"widened": True, "kernel_port": 8}),
    (3, {"hanging": True}),
    (7, {"hanging": True, "state": True}),
    (3, {"relu6": True, "state": True}),
    (6, {"relu6": True, "state": True}),
    (11, {"relu6": True}),
    (3, {"hanging": True, "far": True, "pool_overlap": 3}),
    (7, {"hanging": True, "far": True, "pool_overlap": 3, "state": True}),
    (3, {"leaky": True, "state": True}),
    (6, {"leaky": True, "relu6": True, "state": True}),
    (11, {"leaky": True}),
    (7, {"hanging": True, "far": True, "pool_overlap": 3, "leaky": True, "state": True}),
)

SHAPED = tuple(
    replace(ELABORATIONS[base], **more)  # type: ignore[arg-type]
    for base, more in _SHAPED
)
"""Elaborations for separate padding of each side, for kernels that are smaller than k, for pooling
windows that hang over the edges, for ReLU6 and for leaky ReLU."""


@dataclass(frozen=True)
class LayerCase:
    """A random super layer with all inputs of a run."""

    design: EngineDesign
    shape: Shape
    x: Bits
    kernels: Bits
    bias: Bits
    stalls: dict[str, tuple[int, ...]]
    reset_at: int | None


def random_case(
    seed: int, elaboration: int | EngineDesign | None = None, pressure: int | None = 0
) -> LayerCase:
    """Return the case of a seed; ``pressure`` selects its stalls and reset, None has none.

    Layer and data depend only on the seed.
    """
    rng = np.random.default_rng([seed, 0x5EED])
    if elaboration is None:
        elaboration = int(rng.integers(len(ELABORATIONS)))
    design = elaboration if isinstance(elaboration, EngineDesign) else ELABORATIONS[elaboration]
    return _case(rng, design, *_shape(rng, design), seed, pressure)


def connected_case(
    seed: int, elaboration: int | EngineDesign, pressure: int | None = 0
) -> LayerCase:
    """Return a case of a fully connected layer, on one of ``FOLDING`` or on a similar design."""
    rng = np.random.default_rng([seed, 0xF01D])
    design = elaboration if isinstance(elaboration, EngineDesign) else FOLDING[elaboration]
    shape = Shape(
        n=int(rng.integers(1, design.max_maps * design.taps + 1)),
        m=int(rng.integers(1, design.n_cu * design.groups + 1)),
        k=1,
        rows=1,
        columns=1,
        relu=bool(rng.random() < 0.7),
    )
    try:
        check_fits(shape, 4, design, "random case")
    except BadInput:
        return connected_case(seed + 10_000, elaboration, pressure)
    return _case(rng, design, shape, int(rng.integers(1, 5)), seed, pressure)


def shaped_case(seed: int, elaboration: int, pressure: int | None = 0) -> LayerCase:
    """Return a case whose padding, kernels and pooling suit an elaboration of ``SHAPED``."""
    rng = np.random.default_rng([seed, 0x51DE])
    design = SHAPED[elaboration]
    return _case(rng, design, *_shape(rng, design), seed, pressure)


def _case(
    rng: np.random.Generator,
    design: EngineDesign,
    shape: Shape,
    images: int,
    seed: int,
    pressure: int | None,
) -> LayerCase:
    fmt = design.fmt
    wild = rng.random() < 0.25
    x = _words(rng, fmt, (images, shape.rows, shape.columns, shape.n), wild)
    kernels = _words(rng, fmt, (shape.m, shape.n, shape.k, shape.k), wild)
    bias = _words(rng, fmt, (shape.m,), wild)
    stalls, reset_at = ({}, None) if pressure is None else _pressure(seed, pressure)
    return LayerCase(design, shape, x, kernels, bias, stalls, reset_at)


def _pressure(seed: int, index: int) -> tuple[dict[str, tuple[int, ...]], int | None]:
    """Return stall patterns of the streams, and in some cases a reset in mid-stream."""
    rng = np.random.default_rng([seed, index, 0x57A1])
    stalls = {
        stream: _pattern(rng)
        for stream in ("s_axis_map", "s_axis_kernel", "s_axis_bias", "m_axis_map")
        if rng.random() < 0.75
    }
    return stalls, int(rng.integers(5, 1500)) if rng.random() < 0.25 else None


def _shape(rng: np.random.Generator, design: EngineDesign) -> tuple[Shape, int]:
    while True:
        pool = None
        if design.pool_window > 1 and rng.random() < 0.7:
            pool = Pool(
                kind="average" if design.average and rng.random() < 0.5 else "max",
                window=int(rng.integers(1, design.pool_window + 1)),
                stride=int(rng.integers(1, 4)),
            )
            pool = random_hang(rng, pool, design.far) if design.hanging else pool
        images = int(rng.integers(1, 4))
        try:
            shape = Shape(
                n=int(rng.integers(1, design.max_maps + 1)),
                m=int(rng.integers(1, design.n_cu * design.groups + 1)),
                k=(k := random_kernel(rng, design)),
                rows=int(rng.integers(1, 10)),
                columns=int(rng.integers(1, 10)),
                stride=int(rng.integers(1, 4)),
                pad=random_pad(rng, design, k),
                relu=bool(rng.random() < 0.7),
                relu6=design.relu6 and bool(rng.random() < 0.7),
                pool=pool,
            )
            if design.leaky and not shape.relu6 and rng.random() < 0.8:
                shape = replace(shape, slope=random_slope(rng, design.fmt))
            check_fits(shape, images, design, "random case")
        except (ValueError, BadInput):
            continue
        return shape, images


def random_slope(rng: np.random.Generator, fmt: FloatFormat) -> int:
    """Return the word of a slope of leaky ReLU: small, a power of two, or large."""
    return int(to_bits(rng.choice([0.01, 0.25, 0.7]), fmt))


def random_kernel(rng: np.random.Generator, design: EngineDesign) -> int:
    """Return a kernel size that the design supports: k, or less if it is ``widened``."""
    return int(rng.integers(1, design.k + 1)) if design.widened else design.k


def random_pad(rng: np.random.Generator, design: EngineDesign, k: int) -> Padding:
    """Return padding for k x k kernels: equal sides, or separate sides if it is ``sided``."""
    if not design.sided:
        return int(rng.integers(0, k))
    top, left, bottom, right = (int(each) for each in rng.integers(0, k, 4))
    return top, left, bottom, right


def random_hang(rng: np.random.Generator, pool: Pool, far: bool = False) -> Pool:
    """Return the same pooling with windows that hang over each edge by a random amount.

    far: also by a stride or more.
    """
    most = pool.window if far else min(pool.window, pool.stride)
    top, left, bottom, right = (int(each) for each in rng.integers(0, most, 4))
    return replace(pool, pad=(top, left, bottom, right))


def _words(rng: np.random.Generator, fmt: FloatFormat, size: tuple[int, ...], wild: bool) -> Bits:
    """Return numbers of similar magnitude; if ``wild``, 5 % of them are random bits."""
    exponent = rng.integers(fmt.bias - 2, fmt.bias + 2, size)
    words = (
        rng.integers(0, 2, size) << (fmt.width - 1)
        | exponent << fmt.frac_bits
        | rng.integers(0, 1 << fmt.frac_bits, size)
    )
    if wild:
        words = np.where(rng.random(size) < 0.05, rng.integers(0, 1 << fmt.width, size), words)
    return words.astype(np.uint32)


def _pattern(rng: np.random.Generator) -> tuple[int, ...]:
    density = rng.choice([0.15, 0.5, 0.9])
    return (*(int(bit) for bit in rng.random(int(rng.integers(3, 60))) < density), 1)
