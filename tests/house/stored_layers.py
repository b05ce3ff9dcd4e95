"""Random layers on designs that store elements in narrower formats than they compute in."""

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from merp.cosim.machines.cnn_merp.phases.delta import delta_run, expect_delta
from merp.cosim.machines.cnn_merp.phases.forward import expect_forward, forward_run
from merp.cosim.machines.cnn_merp.phases.kernel_update import expect_update, kernel_update_run
from merp.cosim.phases.expectation import GroupPass
from merp.models.arithmetic.fp_convert import fp_convert
from merp.models.base.bits import Bits
from merp.models.base.byte_image import BYTES, ByteImage
from merp.models.base.delta_shape import delta_shape, plain_inputs
from merp.models.base.errors import BadInput
from merp.models.base.folded_shape import folds
from merp.models.base.formats import BFLOAT16, BINARY16, BINARY32, FloatFormat
from merp.models.base.input_part import ADDING, WHOLE
from merp.models.base.rates import Rates, UpdateRule
from merp.models.base.shape import Pool, Shape
from merp.models.base.storage import Storage
from merp.models.golden.delta import delta_convolution
from merp.models.golden.kernel_update import bias_gradient, kernel_gradient, update
from merp.models.golden.state import State, keep_state, packed
from merp.models.golden.stored import Stored
from merp.models.golden.super_layer import super_layer
from merp.models.golden.unpool import unpool
from merp.models.machines.cnn_merp.params.delta_design import DeltaDesign
from merp.models.machines.cnn_merp.params.design import EngineDesign
from merp.models.machines.cnn_merp.params.sizing import check_fits
from merp.models.machines.cnn_merp.params.unpool_design import UnpoolDesign
from merp.testbenches.cnn_merp.random_layers import (
    ELABORATIONS,
    FOLDING,
    SHAPED,
    WIDE,
    LayerCase,
    connected_case,
    random_case,
    random_kernel,
    random_pad,
)

MAPS = Storage(maps=BFLOAT16, deltas=BFLOAT16, kernels=BINARY32, gradients=BINARY32)
HALF = Storage(maps=BINARY16, deltas=BINARY16, kernels=BINARY16, gradients=BINARY16)
MIXED = Storage(maps=BINARY16, deltas=BFLOAT16, kernels=BFLOAT16, gradients=BINARY16)
KERNELS = Storage(maps=BINARY32, deltas=BINARY16, kernels=BFLOAT16, gradients=BFLOAT16)
PHOTO = replace(MAPS, image=ByteImage.of(Fraction(2, 255), Fraction(-1)))
PIXELS = replace(KERNELS, image=ByteImage.of(Fraction(1), Fraction(-1001, 10)))

BITS_8: dict[str, Any] = {
    "operand_precision": 8, "fused_window": 18, "accumulator_precision": 24, "n_cu": 3,
}  # fmt: skip
BITS_11: dict[str, Any] = {"operand_precision": 11, "fused_window": 22, "fused_dsp": 1}

FORWARD = tuple(
    replace(base, storage=storage, **more)
    for base, storage, more in (
        (ELABORATIONS[2], MAPS, {}),
        (ELABORATIONS[10], HALF, {"added": True}),
        (ELABORATIONS[11], MIXED, {"state": True, "kernel_port": 4}),
        (FOLDING[5], HALF, {}),
        (WIDE[5], MIXED, {"state": True}),
        (WIDE[6], HALF, {"added": True}),
        (WIDE[10], KERNELS, {}),
        (ELABORATIONS[0], MAPS, {"added": True, "map_port": 8}),
        (SHAPED[11], HALF, {}),
        (ELABORATIONS[9], KERNELS, {"partial": True, "state": True}),
        (ELABORATIONS[10], MIXED, {"partial": True, "added": True, "map_port": 2}),
        (ELABORATIONS[2], PHOTO, {"state": True, "map_port": 4}),
        (FOLDING[5], PIXELS, {}),
        (ELABORATIONS[9], replace(HALF, image=BFLOAT16), {}),
        (ELABORATIONS[10], MAPS, BITS_8),
        (ELABORATIONS[11], HALF, BITS_11 | {"kernel_port": 4, "state": True}),
    )
)
"""One or several elements to a beat, with state, added maps, partial sums, folded layers."""


def delta_design(base: EngineDesign, *, before: bool) -> DeltaDesign:
    """``base`` without what forward propagation alone has."""
    engine = replace(
        base, pool_window=1, pool_overlap=1, pool_words=1, average=False, state=False,
        d=max(2, base.d),
    )  # fmt: skip
    undone = UnpoolDesign(
        fmt=base.fmt, window=3, overlap=2, words=400, max_size=24, max_maps=128, max_images=4,
        average=True, add_latency=2, mul_latency=1,
    )  # fmt: skip
    return DeltaDesign(engine, undone, before)


DELTA = tuple(
    delta_design(replace(base, storage=storage, **more), before=before)
    for base, storage, more, before in (
        (ELABORATIONS[2], MAPS, {}, False),
        (ELABORATIONS[2], HALF, {}, True),
        (ELABORATIONS[10], KERNELS, {"added": True}, False),
        (ELABORATIONS[9], MIXED, {"added": True, "kernel_port": 4}, True),
        (WIDE[5], HALF, {}, False),
        (ELABORATIONS[2], MIXED, {"map_port": 4}, True),
        (FOLDING[6], KERNELS, {"map_port": 2, "kernel_port": 2}, False),
        (ELABORATIONS[10], HALF, {"added": True, "map_port": 2, "partial": True}, True),
        (ELABORATIONS[0], MAPS, {"map_port": 8, "added": True}, False),
        (ELABORATIONS[10], MAPS, BITS_8, True),
        (ELABORATIONS[10], HALF, BITS_11 | {"map_port": 2}, False),
    )
)
"""Un-pooling behind the datapath and in front of it."""


def _update(k: int, units: int, storage: Storage, **changes: Any) -> EngineDesign:
    values: dict[str, Any] = dict(
        k=k, n_cu=units, r=1, d=2, kernel_words=40, groups=4, row_words=24, max_size=8, max_maps=10,
        max_images=3, max_stride=3, fifo_words=4, mul_latency=1, add_latency=2, storage=storage,
    )  # fmt: skip
    return EngineDesign(**(values | changes))


_ROW: dict[str, Any] = {"cu_kind": "fused", "ku_kind": "row", "ku_lanes": 2}
_UNDONE = UnpoolDesign(
    fmt=BINARY32, window=3, overlap=2, words=400, max_size=24, max_maps=128, max_images=4,
    average=True, add_latency=2, mul_latency=1,
)  # fmt: skip

UPDATE: tuple[tuple[EngineDesign, UpdateRule, UnpoolDesign | None], ...] = (
    (_update(2, 2, MAPS), UpdateRule(), None),
    (_update(2, 2, HALF, **_ROW, kernel_port=8), UpdateRule(momentum=True), None),
    (_update(2, 4, MIXED, **_ROW, map_port=2, kernel_port=4), UpdateRule(weight_decay=True), None),
    (_update(1, 2, HALF, **_ROW | {"ku_lanes": 1}, map_port=8), UpdateRule(momentum=True), None),
    (_update(3, 2, KERNELS, kernel_port=4), UpdateRule(True, True), _UNDONE),
    (_update(1, 3, MIXED, map_port=4), UpdateRule(momentum=True), _UNDONE),
    (_update(3, 1, KERNELS, **_ROW, widened=True), UpdateRule(momentum=True), None),
    (_update(2, 2, PHOTO, **_ROW, map_port=8), UpdateRule(), None),
    (_update(3, 2, PIXELS), UpdateRule(momentum=True), _UNDONE),
    (_update(2, 3, MAPS, **_ROW | BITS_8), UpdateRule(momentum=True), None),
    (_update(3, 2, HALF, **_ROW | BITS_11, kernel_port=4), UpdateRule(weight_decay=True), _UNDONE),
)
"""With and without momentum, one or several elements to a beat, un-pooling in front or not."""

SCALES = ((0, 0), (9, 4), (-8, -6))
"""About what power of two maps, or deltas, and kernels are: in binary16 the latter overflow and
underflow."""


def numbers(
    rng: np.random.Generator, stored: FloatFormat, fmt: FloatFormat, size: Any, about: int = 0
) -> Bits:
    """Words of ``fmt`` that are numbers of ``stored``; zeros, now and then one without a value."""
    exponent = rng.integers(stored.bias - 2 + about, stored.bias + 2 + about, size)
    words = rng.integers(0, 2, size) << (stored.width - 1) | exponent << stored.frac_bits
    words |= rng.integers(0, 1 << stored.frac_bits, size)
    words[rng.random(size) < 0.1] = 0
    words[rng.random(size) < 0.05] = stored.sign_bit
    if rng.random() < 0.2:
        words[rng.random(size) < 0.02] = stored.inf
        words[rng.random(size) < 0.02] = stored.nan
    return fp_convert(words.astype(np.uint32), stored, fmt)


def input_numbers(rng: np.random.Generator, design: EngineDesign, size: Any, about: int) -> Bits:
    """The same of what a layer takes; of an image in bytes any of them."""
    stored, fmt = design.stored_input, design.fmt
    if not isinstance(stored, ByteImage):
        return numbers(rng, stored, fmt, size, about)
    words = np.array(stored.words(fmt), np.uint32)
    return words[rng.integers(0, BYTES, size)]


def rounded(words: Bits, fmt: FloatFormat, stored: FloatFormat) -> Bits:
    """Words of ``fmt`` as they are when they have been in memory."""
    return fp_convert(fp_convert(words, fmt, stored), stored, fmt)


def _layer(seed: int, design: EngineDesign, pressure: int | None) -> LayerCase:
    if design.folded and seed % 2:
        return connected_case(seed, design, pressure)
    return random_case(seed, design, pressure)


def _pattern(rng: np.random.Generator) -> tuple[int, ...]:
    return (*(int(bit) for bit in rng.random(13) < rng.choice([0.2, 0.6, 0.95])), 1)


def forward_pass(seed: int, design: EngineDesign, pressure: int | None = 0) -> GroupPass:
    """Forward propagation of a random layer."""
    case = _layer(seed, design, pressure)
    shape, images, fmt = case.shape, len(case.x), design.fmt
    rng = np.random.default_rng([seed, 0xF0])
    maps, kernels = design.stored("maps"), design.stored("kernels")
    wide, narrow = SCALES[seed % 3]
    x = input_numbers(rng, design, case.x.shape, wide)
    made = (
        numbers(rng, kernels, fmt, case.kernels.shape, narrow),
        numbers(rng, kernels, fmt, case.bias.shape, narrow),
    )
    add = None
    if design.added and seed % 3 != 1:
        add = numbers(rng, maps, fmt, (images, shape.out_rows, shape.out_columns, shape.m), wide)
    golden = super_layer(x, *made, shape, fmt, design.summation, add)
    state = None
    if design.state:
        plain = replace(shape, pool=None)
        sums = super_layer(x, *made, plain, fmt, design.summation, add)
        state = packed(keep_state(sums, shape, "pooled", fmt), shape, fmt)
    stalls = dict(case.stalls)
    if design.added and pressure is not None:
        stalls["s_axis_add"] = _pattern(rng)
    part = WHOLE if add is None else ADDING
    run = forward_run(shape, design, x, *made, stalls, case.reset_at, part, add)
    wanted = rounded(golden, fmt, maps)
    return GroupPass(run, expect_forward(shape, images, design, wanted, state, part))


def _pool(seed: int) -> Pool | None:
    return (
        Pool(window=2, stride=2),
        None,
        Pool(kind="average", window=3, stride=2),
        None,
    )[seed % 4]


def _front(shape: Shape, seed: int) -> Shape:
    """A layer whose output is the input of ``shape``."""
    pool, rows, columns = _pool(seed), shape.rows, shape.columns
    if pool is not None:
        rows, columns = ((side - 1) * pool.stride + pool.window for side in (rows, columns))
    return Shape(
        n=1, m=shape.n, k=1, rows=rows, columns=columns, relu=seed % 3 < 2, pool=pool
    )  # fmt: skip


def _back(seed: int, design: DeltaDesign, pressure: int | None) -> tuple[LayerCase, Shape]:
    """A layer whose delta propagation fits."""
    engine, tries = design.engine, seed
    while True:
        case = _layer(tries, engine, pressure)
        try:
            shape = replace(case.shape, pool=_pool(seed) if design.before else None)
            check_fits(delta_shape(shape), len(case.x), engine, "delta")
            if max(shape.rows, shape.columns) < 10:
                return case, shape
        except (BadInput, ValueError):
            pass
        tries += 1000


def delta_pass(seed: int, design: DeltaDesign, pressure: int | None = 0) -> GroupPass:
    """Delta propagation of a random layer."""
    case, shape = _back(seed, design, pressure)
    engine, images = design.engine, len(case.x)
    fmt, stored = engine.fmt, engine.stored("deltas")
    rng = np.random.default_rng([seed, 0xD0])
    unpooled = shape if design.before else _front(shape, seed)
    wide, narrow = SCALES[seed % 3]
    size = shape.out_rows, shape.out_columns, shape.m
    if design.before:
        size = shape.pooled_rows, shape.pooled_columns, shape.m
    deltas = numbers(rng, stored, fmt, (images, *size), wide)
    kernels = numbers(rng, engine.stored("kernels"), fmt, case.kernels.shape, narrow)
    add = None
    if engine.added and seed % 3 != 1:
        add = numbers(rng, stored, fmt, (images, shape.rows, shape.columns, shape.n), wide)
    activation = numbers(
        rng, fmt, fmt, (images, unpooled.out_rows, unpooled.out_columns, unpooled.m)
    )
    state = keep_state(activation, unpooled, "pooled", fmt)
    sums = unpool(deltas, state, shape, fmt) if design.before else deltas
    golden = delta_convolution(sums, kernels, shape, fmt, engine.summation, add)
    if not design.before:
        golden = unpool(golden.reshape(images, shape.rows, shape.columns, -1), state, unpooled, fmt)
    stalls = {}
    if pressure is not None:
        names = ("s_axis_delta", "s_axis_kernel", "s_axis_state", "m_axis_delta")
        names += ("s_axis_add",) if engine.added else ()
        stalls = {name: _pattern(rng) for name in names if rng.random() < 0.7}
    part = WHOLE if add is None else ADDING
    run = delta_run(
        shape, unpooled, design, deltas, kernels, packed(state, unpooled, fmt), part,
        add=None if add is None else Stored(plain_inputs(shape), add, State(kind="pooled")),
    ).under(stalls, case.reset_at)  # fmt: skip
    wanted = rounded(golden, fmt, stored)
    return GroupPass(run, expect_delta(shape, unpooled, images, design, wanted, part))


def _updated_shape(rng: np.random.Generator, design: EngineDesign, pool: Pool | None) -> Shape:
    while True:
        try:
            shape = Shape(
                n=int(rng.integers(1, 4 if design.map_port == 1 else design.max_maps + 1)),
                m=int(rng.integers(1, design.n_cu * design.groups + 1)),
                k=(k := random_kernel(rng, design)),
                rows=int(rng.integers(1, 7)),
                columns=int(rng.integers(1, 7)),
                stride=int(rng.integers(1, 4)),
                pad=random_pad(rng, design, k),
                pool=pool,
            )
            check_fits(replace(shape, pool=None), 2, design, "random case")
        except (ValueError, BadInput):
            continue
        if not folds(shape, design.k):
            return shape


def update_pass(seed: int, index: int, pressure: bool = True) -> GroupPass:
    """Kernel update of a random layer on one of ``UPDATE``."""
    design, rule, undone = UPDATE[index]
    rng = np.random.default_rng([seed, index, 0x0D])
    shape = _updated_shape(rng, design, _pool(seed) if undone is not None else None)
    images, fmt = int(rng.integers(1, 3)), design.fmt
    kernels, gradients = design.stored("kernels"), design.stored("gradients")
    wide, narrow = SCALES[seed % 3]
    x = input_numbers(rng, design, (images, shape.rows, shape.columns, shape.n), wide)
    full = images, shape.out_rows, shape.out_columns, shape.m
    size, state = full, b""
    if undone is not None:
        size = images, shape.pooled_rows, shape.pooled_columns, shape.m
    delta = sums = numbers(rng, design.stored("deltas"), fmt, size, narrow)
    if undone is not None:
        kept = keep_state(numbers(rng, fmt, fmt, full), shape, "pooled", fmt)
        sums, state = unpool(delta, kept, shape, fmt), packed(kept, shape, fmt)
    sizes = (shape.m, shape.n, shape.k, shape.k), (shape.m,)
    old = [numbers(rng, kernels, fmt, each) for each in sizes]
    past = [numbers(rng, gradients, fmt, each, narrow) for each in sizes]
    factors = [
        fmt.bias - 2 << fmt.frac_bits | int(rng.integers(1 << fmt.frac_bits)) if built else 0
        for built in rule
    ]
    rates = Rates(
        rate=fmt.bias - 3 << fmt.frac_bits | 5, momentum=factors[0], weight_decay=factors[1]
    )
    sought = kernel_gradient(x, sums, shape, fmt, design.summation), bias_gradient(sums, fmt)
    new = [
        update(each, velocity if rule.momentum else np.zeros_like(velocity), gradient, rates, fmt)
        for each, velocity, gradient in zip(old, past, sought, strict=True)
    ]
    stalls: dict[str, tuple[int, ...]] = {}
    if pressure:
        names = [f"{way}_axis_{each}" for way in "sm" for each in ("kernel", "bias")]
        names += ["s_axis_map", "s_axis_delta"]
        if rule.momentum:
            names += [f"{name}_velocity" for name in names[:4]]
        stalls = {name: _pattern(rng) for name in names if rng.random() < 0.7}
    run = kernel_update_run(
        shape, design, x, delta, (old[0], old[1]), rates,
        (past[0], past[1]) if rule.momentum else None, undone, state,
    ).under(
        stalls, int(rng.integers(5, 600)) if pressure and rng.random() < 0.3 else None
    )  # fmt: skip
    written = [rounded(parameter, fmt, kernels) for parameter, _ in new]
    kept_on = [rounded(velocity, fmt, gradients) for _, velocity in new]
    expected = expect_update(
        shape, images, design, written[0], written[1],
        (kept_on[0], kept_on[1]) if rule.momentum else None, undone is not None,
    )  # fmt: skip
    return GroupPass(run, expected)
