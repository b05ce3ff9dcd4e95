"""Random layers that are cut into passes, with what the golden says of the whole layer."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from merp.cosim.machines.cnn_merp.passes.cut import Cut, Made, Tiles
from merp.cosim.machines.cnn_merp.passes.delta_tiles import DeltaTiles
from merp.cosim.machines.cnn_merp.passes.forward_tiles import ForwardTiles
from merp.cosim.machines.cnn_merp.passes.update_tiles import UpdateTiles
from merp.cosim.phases.audit.run_and_audit import Audited
from merp.models.base.bits import Bits
from merp.models.base.delta_shape import plain_inputs
from merp.models.base.folded_shape import folds
from merp.models.base.formats import BFLOAT16, BINARY16, FloatFormat
from merp.models.base.rates import Rates
from merp.models.base.shape import Pool, Shape
from merp.models.golden.delta import delta_convolution
from merp.models.golden.kernel_update import bias_gradient, kernel_gradient, update
from merp.models.golden.state import keep_state
from merp.models.golden.stored import Stored
from merp.models.golden.super_layer import super_layer
from merp.models.golden.training import Updated
from merp.models.golden.unpool import unpool
from merp.models.machines.cnn_merp.params.delta_design import DeltaDesign
from merp.models.machines.cnn_merp.params.design import EngineDesign
from merp.models.machines.cnn_merp.params.unpool_design import UnpoolDesign
from merp.testbenches.cnn_merp.random_layers import random_hang, random_kernel, random_pad
from merp.testbenches.top.top import Top

MAPS = 7


def engine(k: int, n_cu: int, **chosen: int | bool | str | FloatFormat) -> EngineDesign:
    """A small design that parts of up to ``MAPS`` maps fit."""
    common: dict[str, int | bool | str | FloatFormat] = {
        "k": k, "n_cu": n_cu, "r": 1, "d": 2, "kernel_words": MAPS * MAPS, "groups": MAPS,
        "row_words": 64, "max_size": 16, "max_maps": MAPS, "max_images": 2, "max_stride": 3,
        "fifo_words": 16, "mul_latency": 1, "add_latency": 2, "partial": True,
    }  # fmt: skip
    return EngineDesign(**(common | chosen))  # type: ignore[arg-type]


def undone(design: EngineDesign, average: bool = False) -> UnpoolDesign:
    """The un-pooling in front of ``design``, in words of memory for ``MAPS`` maps."""
    maps = MAPS * (design.taps if design.folded else 1)
    return UnpoolDesign(
        fmt=design.fmt, window=3, overlap=2, words=64, max_size=24, max_maps=maps,
        max_images=design.max_images, average=average, hanging=True, far=True, add_latency=2,
        mul_latency=1,
    )  # fmt: skip


POOLED = {"pool_window": 3, "pool_overlap": 2, "pool_words": 64, "hanging": True, "far": True}
WIDE = {"cu_kind": "fused", "accumulator_precision": 28}

FORWARD = (
    engine(1, 1, p=2, fmt=BFLOAT16, add_latency=5),
    engine(3, 2, r=2, average=True, fmt=BINARY16, state=True, **POOLED),
    engine(2, 3, r=2, p=2, state=True, add_latency=4),
    engine(2, 2, p=2, state=True, **WIDE, **POOLED),
    engine(3, 2, r=2, cu_kind="fused", fused_dsp=2, **POOLED),
    engine(2, 2, p=2, state=True, folded=True, **WIDE),
    engine(3, 1, d=1, folded=True, fmt=BFLOAT16),
    engine(3, 2, p=2, state=True, fmt=BFLOAT16, kernel_port=4),
    engine(3, 3, kernel_port=2, **WIDE, **POOLED),
    engine(3, 2, folded=True, fmt=BFLOAT16, kernel_port=4),
    engine(3, 2, widened=True, sided=True, state=True, **WIDE, **POOLED),
    engine(4, 3, p=2, widened=True, fmt=BFLOAT16),
    engine(3, 2, p=2, state=True, fmt=BFLOAT16, map_port=4),
    engine(3, 2, folded=True, map_port=2, **WIDE),
    engine(3, 3, widened=True, sided=True, map_port=4, fmt=BFLOAT16),
    engine(3, 2, widened=True, folded=True, fmt=BFLOAT16, kernel_port=4),
)


def delta(before: bool, design: EngineDesign, average: bool = False) -> DeltaDesign:
    """The design of a delta propagation; ``before``: with deltas at pooled resolution.

    Where it adds, what its sums start at comes at pooled resolution, too.
    """
    start = undone(design, not average) if design.added else None
    return DeltaDesign(design, undone(design, average), before, start)


DELTA = (
    delta(False, engine(3, 2, p=2, fmt=BFLOAT16), average=True),
    delta(True, engine(2, 3, fmt=BINARY16), average=True),
    delta(False, engine(2, 2, **WIDE)),
    delta(True, engine(2, 2, p=2, **WIDE)),
    delta(True, engine(2, 2, p=2, folded=True, **WIDE)),
    delta(False, engine(3, 2, folded=True, fmt=BFLOAT16)),
    delta(False, engine(3, 2, fmt=BFLOAT16, kernel_port=4)),
    delta(True, engine(3, 3, fmt=BFLOAT16, kernel_port=2)),
    delta(False, engine(3, 5, folded=True, fmt=BFLOAT16, kernel_port=4)),
    delta(True, engine(3, 3, widened=True, sided=True, fmt=BFLOAT16)),
    delta(False, engine(3, 2, widened=True, **WIDE)),
    delta(False, engine(3, 3, p=2, folded=True, fmt=BFLOAT16, map_port=4)),
    delta(False, engine(3, 2, widened=True, sided=True, map_port=4, fmt=BFLOAT16)),
    delta(False, engine(3, 2, widened=True, fmt=BFLOAT16, kernel_port=8)),
    delta(True, engine(3, 3, p=2, added=True, fmt=BFLOAT16, groups=3)),
    delta(True, engine(2, 2, added=True, folded=True, **WIDE), average=True),
    delta(True, engine(3, 3, p=2, folded=True, fmt=BFLOAT16, map_port=4)),
    delta(True, engine(3, 2, widened=True, sided=True, map_port=8, fmt=BINARY16)),
    delta(True, engine(2, 2, map_port=2, kernel_port=4, **WIDE), average=True),
    delta(True, engine(3, 3, p=2, added=True, fmt=BFLOAT16, groups=3, map_port=4)),
)

UPDATE = (
    (engine(2, 2, fmt=BFLOAT16), False),
    (engine(3, 2, fmt=BINARY16), True),
    (engine(2, 3, ku_kind="row", ku_lanes=2, **WIDE), True),
    (engine(3, 2, folded=True, fmt=BFLOAT16), False),
    (engine(2, 2, folded=True, ku_kind="row", ku_lanes=3, max_images=5, **WIDE), True),
    (engine(3, 2, fmt=BFLOAT16, kernel_port=4), False),
    (engine(3, 2, ku_kind="row", ku_lanes=2, kernel_port=2, **WIDE), True),
    (engine(3, 2, widened=True, sided=True, fmt=BINARY16), False),
    (engine(3, 3, ku_kind="row", ku_lanes=2, widened=True, **WIDE), True),
    (engine(3, 4, ku_kind="row", folded=True, ku_lanes=3, map_port=4, **WIDE), False),
    (engine(3, 2, widened=True, sided=True, map_port=4, fmt=BFLOAT16), False),
    (engine(3, 2, folded=True, fmt=BFLOAT16, kernel_port=4), True),
    (engine(4, 2, widened=True, folded=True, fmt=BFLOAT16, kernel_port=2), False),
    (engine(2, 2, folded=True, ku_kind="row", ku_lanes=3, kernel_port=2, **WIDE), False),
    (engine(3, 4, ku_kind="row", folded=True, ku_lanes=3, map_port=4, **WIDE), True),
    (engine(2, 3, fmt=BFLOAT16, map_port=2), True),
    (engine(3, 4, widened=True, sided=True, map_port=8, fmt=BINARY16), True),
    (engine(2, 4, ku_kind="row", ku_lanes=2, map_port=4, **WIDE), True),
)


@dataclass(frozen=True)
class Whole:
    """A layer cut into parts, and what it gives in one piece."""

    tiles: Tiles
    golden: dict[str, Bits]


@dataclass(frozen=True)
class Pressed:
    """Tiles whose streams stall, starved partial sums among them, and which are reset now and then.

    ``seed`` None: a word in every cycle, no reset.
    """

    tiles: Tiles
    seed: int | None

    def top(self, array: str = "rtl") -> Top:
        """The top of the passes."""
        return self.tiles.top(array)

    def passes(self) -> Made:
        """The passes, their streams stalled and some of them reset by the seed."""
        rng = np.random.default_rng([self.seed or 0, 0x57A1])
        streams = [pin.name for pin in self.top().ports.streams]
        inner = self.tiles.passes()
        answer: Audited | None = None
        while True:
            try:
                each = inner.send(answer)
            except StopIteration as end:
                made: dict[str, Bits] = end.value
                return made
            if self.seed is not None:
                stalls = {
                    name: (*(int(bit) for bit in rng.random(19) < rng.choice([0.1, 0.5, 0.9])), 1)
                    for name in streams
                    if rng.random() < 0.6
                }
                reset_at = int(rng.integers(5, 500)) if rng.random() < 0.3 else None
                each = each._replace(run=replace(each.run, stalls=stalls, reset_at=reset_at))
            answer = yield each


def pool_of(rng: np.random.Generator, average: bool) -> Pool | None:
    """Pooling of a random kind, whose windows hang over the edges of every other layer; or none."""
    kind = str(rng.choice(["none", "max", "average" if average else "max"]))
    if kind == "none":
        return None
    pool = Pool(kind=kind, window=int(rng.integers(2, 4)), stride=2)
    return random_hang(rng, pool, far=True) if rng.random() < 0.5 else pool


def shape_of(rng: np.random.Generator, design: EngineDesign, average: bool, pooled: bool) -> Shape:
    """A random layer that ``design`` runs, not folded."""
    while True:
        try:
            shape = Shape(
                n=int(rng.integers(1, MAPS + 1)),
                m=int(rng.integers(1, MAPS + 1)),
                k=(k := random_kernel(rng, design)),
                rows=int(rng.integers(1, 6)),
                columns=int(rng.integers(1, 6)),
                stride=int(rng.integers(1, 4)),
                pad=random_pad(rng, design, k),
                relu=bool(rng.random() < 0.7),
                pool=pool_of(rng, average) if pooled else None,
            )
        except ValueError:
            continue
        if not folds(shape, design.k):  # which is another layer, see ``layer_of``
            return shape


def layer_of(rng: np.random.Generator, design: EngineDesign, average: bool, pooled: bool) -> Shape:
    """A layer for a design: a fully connected one, of some maps of taps, where it folds them."""
    if not design.folded:
        return shape_of(rng, design, average, pooled)
    sizes = [int(rng.integers(1, MAPS * design.taps + 1)), int(rng.integers(1, MAPS + 1))]
    return Shape(n=sizes[0], m=sizes[1], k=1, rows=1, columns=1, relu=bool(rng.random() < 0.7))


def words(rng: np.random.Generator, fmt: FloatFormat, *size: int) -> Bits:
    """Random words, most of magnitudes around 1, some of any kind."""
    exponent = rng.integers(fmt.bias - 2, fmt.bias + 2, size)
    made = rng.integers(0, 2, size) << (fmt.width - 1) | exponent << fmt.frac_bits
    made |= rng.integers(0, 1 << fmt.frac_bits, size)
    wild = rng.integers(0, 1 << fmt.width, size)
    return np.where(rng.random(size) < 0.03, wild, made).astype(np.uint32)


def cut_of(rng: np.random.Generator, outputs: int, inputs: int, design: EngineDesign) -> Cut:
    """One to three parts of each, which need not be of one size."""
    taps = design.taps if design.folded else 1
    parts = (int(rng.integers(1, 1 + min(3, maps))) for maps in (outputs, -(-inputs // taps)))
    return Cut.of(outputs, inputs, (next(parts), next(parts)), taps)


def forward_case(seed: int, index: int) -> Whole:
    """A random layer of FORWARD[index] in random passes, forward."""
    rng = np.random.default_rng([seed, index, 1])
    design = FORWARD[index]
    shape = layer_of(rng, design, design.average, design.pool_window > 1)
    x = words(rng, design.fmt, int(rng.integers(1, 3)), shape.rows, shape.columns, shape.n)
    kernels = words(rng, design.fmt, shape.m, shape.n, shape.k, shape.k)
    bias = words(rng, design.fmt, shape.m)
    golden = super_layer(x, kernels, bias, shape, design.fmt, design.summation)
    tiles = ForwardTiles(shape, design, x, kernels, bias, cut_of(rng, shape.m, shape.n, design))
    return Whole(tiles, {"maps": golden})


def delta_case(seed: int, index: int) -> Whole:
    """A random layer of DELTA[index] in random passes, its deltas propagated."""
    rng = np.random.default_rng([seed, index, 2])
    which = DELTA[index]
    fmt, images = which.engine.fmt, int(rng.integers(1, 3))
    shape = layer_of(rng, which.engine, which.unpool.average, which.before)
    if which.engine.folded:  # its inputs are the outputs here, a group of units for each
        shape = replace(shape, n=shape.m, m=shape.n)
    unpooled, maps = shape, shape.n
    if not which.before:
        pool = pool_of(rng, which.unpool.average)
        rows, columns = shape.rows, shape.columns
        if shape.rows == shape.columns == 1 and shape.n % 2 == 0:
            rows, maps = 2, shape.n // 2  # two rows in front of it, taken flattened
        if pool:
            least = pool.elements(rows, columns)
            rows, columns = (side + (pool.pad == 0) for side in least)  # a row that no window has
        relu = bool(rng.random() < 0.7)
        unpooled = Shape(n=1, m=maps, k=1, rows=rows, columns=columns, relu=relu, pool=pool)
    kernels = words(rng, fmt, shape.m, shape.n, shape.k, shape.k)
    layer = kernels, shape, fmt, which.engine.summation
    start = None
    if which.add_unpool is not None:
        start = stored_case(rng, shape, images, which.add_unpool)
        summands = unpool(start.delta, start.state, start.shape, fmt)
        layer = *layer, summands
    sums = images, unpooled.out_rows, unpooled.out_columns, unpooled.m
    state = keep_state(words(rng, fmt, *sums), unpooled, "pooled", fmt)
    if which.before:
        deltas = words(rng, fmt, images, shape.pooled_rows, shape.pooled_columns, shape.m)
        golden = delta_convolution(unpool(deltas, state, shape, fmt), *layer)
    else:
        deltas = words(rng, fmt, images, shape.out_rows, shape.out_columns, shape.m)
        pooled = images, unpooled.pooled_rows, unpooled.pooled_columns, maps
        golden = unpool(delta_convolution(deltas, *layer).reshape(pooled), state, unpooled, fmt)
    cut = cut_of(rng, maps, shape.m, which.engine)
    tiles = DeltaTiles(shape, unpooled, which, deltas, kernels, state, cut, start)
    return Whole(tiles, {"deltas": golden})


def stored_case(
    rng: np.random.Generator, shape: Shape, images: int, undone: UnpoolDesign
) -> Stored:
    """The delta of a layer whose sums are as large as the input of ``shape``."""
    pool = pool_of(rng, undone.average)
    if pool and not (pool.rows(shape.rows) and pool.columns(shape.columns)):
        pool = None
    added = replace(plain_inputs(shape), relu=bool(rng.random() < 0.7), pool=pool)
    sums = images, shape.rows, shape.columns, shape.n
    return Stored(
        added,
        words(rng, undone.fmt, images, added.pooled_rows, added.pooled_columns, shape.n),
        keep_state(words(rng, undone.fmt, *sums), added, "pooled", undone.fmt),
    )


def update_case(seed: int, index: int) -> Whole:
    """A random layer of UPDATE[index] in random passes, its kernels updated."""
    rng = np.random.default_rng([seed, index, 3])
    design, before = UPDATE[index]
    fmt, images = design.fmt, int(rng.integers(1, design.max_images + 1))
    average = before and design.map_port > 1
    shape = layer_of(rng, design, average, before)
    x = words(rng, fmt, images, shape.rows, shape.columns, shape.n)
    old = words(rng, fmt, shape.m, shape.n, shape.k, shape.k), words(rng, fmt, shape.m)
    size = images, shape.out_rows, shape.out_columns, shape.m
    rate = (fmt.bias - 2) << fmt.frac_bits
    state, expansion, deltas = None, None, words(rng, fmt, *size)
    sums = deltas
    if before:
        expansion = undone(design, average)
        state = keep_state(deltas, shape, "pooled", fmt)
        deltas = words(rng, fmt, images, shape.pooled_rows, shape.pooled_columns, shape.m)
        sums = unpool(deltas, state, shape, fmt)
    gradients = kernel_gradient(x, sums, shape, fmt, design.summation), bias_gradient(sums, fmt)
    momentum = seed % 2 * rate
    past = [words(rng, fmt, *each.shape) if momentum else np.zeros_like(each) for each in old]
    rates = Rates(rate=rate, momentum=momentum, weight_decay=seed // 2 % 2 * rate)
    new = [update(w, v, g, rates, fmt) for w, v, g in zip(old, past, gradients, strict=True)]
    golden = {"kernels": new[0][0], "biases": new[1][0]}
    if momentum:
        golden |= {"kernel_velocities": new[0][1], "bias_velocities": new[1][1]}
    before = Updated(old, (past[0], past[1]))
    cut = cut_of(rng, shape.m, shape.n, design)
    tiles = UpdateTiles(shape, design, x, deltas, before, rates, cut, expansion, state)
    return Whole(tiles, golden)


CASES: dict[str, tuple[Callable[[int, int], Whole], int]] = {
    "fp": (forward_case, len(FORWARD)),
    "dp": (delta_case, len(DELTA)),
    "ku": (update_case, len(UPDATE)),
}
