"""Read a design of F-CNN from its table in a network file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from merp.models.base.delta_shape import delta_shape
from merp.models.base.errors import BadInput
from merp.models.base.formats import FloatFormat
from merp.models.base.keys import Key, WholeKey
from merp.models.base.latencies import ADD_LATENCY, MUL_LATENCY
from merp.models.base.shape import Pool, Shape
from merp.models.base.toml_section import Section
from merp.models.base.users import Users
from merp.models.machines.fcnn.params import product_design
from merp.models.machines.fcnn.params.design import FcnnDesign, is_full
from merp.models.machines.fcnn.params.pool_design import PoolDesign
from merp.models.machines.fcnn.params.product_design import ProductDesign
from merp.models.machines.fcnn.params.stream_design import RANGES, StreamDesign

MOST = 128

LANES = WholeKey(
    key="lanes", says="G, images of a beat; divides the batch", low=1, high=RANGES["lanes"][1],
    default=4,
)  # fmt: skip
MAX_IMAGES = WholeKey(
    key="max_images", says="the largest batch, a multiple of lanes", low=1, high=4096, default=MOST
)  # fmt: skip
MAPS_AT_ONCE = WholeKey(
    key="maps_at_once", says="of convolutions: m, output maps that a pass computes", low=1,
    high=RANGES["maps_at_once"][1], default=1,
)  # fmt: skip
BLOCK = WholeKey(
    key="block", says="of full connections: R, rows and columns of a block", low=1,
    high=product_design.RANGES["size"][1], default=4,
)  # fmt: skip
BLOCKS = WholeKey(
    key="blocks", says="of full connections: Nk, blocks that are computed at once", low=1,
    high=product_design.RANGES["blocks"][1], default=1,
)  # fmt: skip
LATENCIES = (
    WholeKey(
        key="mul_latency", says="cycles of a multiplier", low=1, high=RANGES["mul_latency"][1],
        default=MUL_LATENCY,
    ),
    WholeKey(
        key="add_latency", says="cycles of an adder", low=1, high=RANGES["add_latency"][1],
        default=ADD_LATENCY,
    ),
)  # fmt: skip
OF_CONVOLUTIONS, OF_PRODUCTS = (MAPS_AT_ONCE,), (BLOCK, BLOCKS)
KEYS: tuple[Key, ...] = (LANES, MAX_IMAGES, *OF_CONVOLUTIONS, *OF_PRODUCTS, *LATENCIES)
"""Keys of [design.<name>]; everything else follows from its layers."""


def read_design(section: Section, name: str, users: Users) -> FcnnDesign:
    """Read one [design.<name>], and check the layers that use it.

    Raises:
        BadInput: an unknown key, a value out of range, or a layer that the modules cannot run.
    """
    shapes = list(users.shapes.values())
    full = is_full(shapes[0])
    for key in OF_CONVOLUTIONS if full else OF_PRODUCTS:
        if section.has(key.key):
            raise section.bad(key.key, f"absent, it is {key.says.split(':')[0]}")
    lanes = LANES.read(section)
    images = MAX_IMAGES.read(section, default=MOST // lanes * lanes)
    if images % lanes:
        raise section.bad(MAX_IMAGES.key, f"a multiple of {LANES.key} = {lanes}")
    sizes = [*(OF_PRODUCTS if full else OF_CONVOLUTIONS), *LATENCIES]
    chosen = {each.key: each.read(section) for each in sizes}
    section.finish()
    if users.storage is not None or users.added:
        raise BadInput(f"{section.file}: design {name}: allowed without storage and add")
    assert isinstance(users.numbers, FloatFormat)  # the machine's numbers
    try:
        return design_for(shapes, lanes, images, users.numbers, chosen)
    except ValueError as error:
        raise BadInput(f"{section.file}: design {name}: {error}") from error


def design_for(
    shapes: Sequence[Shape],
    lanes: int,
    max_images: int,
    fmt: FloatFormat,
    chosen: Mapping[str, int],
) -> FcnnDesign:
    """Return the smallest design for layers, which need the same kernel, pooling and activation.

    Args:
        shapes: of the layers.
        lanes: G.
        max_images: the largest batch.
        fmt: number format.
        chosen: values of further keys; others have their defaults.

    Raises:
        ValueError: the layers differ, or the modules do not support one. The message names the
            property and the allowed values.
    """
    for key, values in (
        ("kernel", {shape.k for shape in shapes}),
        ("activation", {shape.activation for shape in shapes}),
        ("pool", {_window(shape.pool) for shape in shapes}),
        ("kind", {"fc" if is_full(shape) else "conv" for shape in shapes}),
    ):
        if len(values) > 1:
            said = " and ".join(sorted(map(str, values)))
            raise ValueError(f"{key} must be equal in all layers of a design, not {said}")
    value = {key.key: key.default or 1 for key in KEYS if isinstance(key, WholeKey)} | dict(chosen)
    made = _product if is_full(shapes[0]) else _convolution
    return FcnnDesign(
        units=made(shapes, lanes, max_images, fmt, value),
        pooling=_pooling(shapes, lanes, max_images, fmt, value),
        lanes=lanes,
        max_images=max_images,
    )


def _convolution(
    shapes: Sequence[Shape], lanes: int, images: int, fmt: FloatFormat, value: Mapping[str, int]
) -> StreamDesign:
    k, (_, most) = shapes[0].k, RANGES["k"]
    if k > most:
        raise ValueError(f"kernel must be at most {most} on this machine, not {k}")
    seen = [*shapes, *map(delta_shape, shapes)]
    return StreamDesign(
        fmt=fmt,
        k=k,
        lanes=lanes,
        maps_at_once=value[MAPS_AT_ONCE.key],
        max_rows=max(_extent(each.rows, each.out_rows, each.stride) for each in seen),
        max_columns=max(_extent(each.columns, each.out_columns, each.stride) for each in seen),
        max_maps=max(max(shape.n, shape.m) for shape in shapes),
        max_step=images // lanes,
        max_stride=max(shape.stride for shape in shapes),
        **{key.key: value[key.key] for key in LATENCIES},
    )


def _product(
    shapes: Sequence[Shape], _: int, images: int, fmt: FloatFormat, value: Mapping[str, int]
) -> ProductDesign:
    """Return the module: its rows are images or, with a row of biases, inputs."""
    inputs, outputs = (max(getattr(shape, key) for shape in shapes) for key in ("n", "m"))
    blocks = value[BLOCKS.key]
    return ProductDesign(
        fmt=fmt,
        size=value[BLOCK.key],
        blocks=blocks,
        turns=max(blocks, value["add_latency"] + 1),
        max_rows=max(images, inputs + 1),
        max_inner=max(inputs, outputs, images),
        max_columns=max(inputs, outputs),
        **{key.key: value[key.key] for key in LATENCIES},
    )


def _extent(map_size: int, outputs: int, stride: int) -> int:
    """Return the rows or columns of the grid over which windows walk."""
    return max(map_size, (outputs - 1) * stride + 1)


def _window(pool: Pool | None) -> tuple[int, int]:
    return (pool.window, pool.stride) if pool else (1, 1)


def _pooling(
    shapes: Sequence[Shape], lanes: int, images: int, fmt: FloatFormat, value: Mapping[str, int]
) -> PoolDesign | None:
    """Return the module of activation and pooling; None if the layers have neither."""
    first = shapes[0]
    if first.pool is None and not (first.relu or first.tanh):
        return None
    for shape in shapes:
        if shape.pool and shape.pool.pad:
            raise ValueError(f"pool.pad must be 0 on this machine, not {shape.pool.pad}")
    window, stride = _window(first.pool)
    if stride < window:
        raise ValueError(f"pool.stride must be at least the window of {window}, not {stride}")
    return PoolDesign(
        fmt=fmt,
        lanes=lanes,
        window=window,
        stride=stride,
        activation=first.activation,
        kind=first.pool.kind if first.pool else "max",
        max_rows=max(shape.out_rows for shape in shapes),
        max_columns=max(shape.out_columns for shape in shapes),
        max_maps=max(shape.m for shape in shapes),
        max_step=images // lanes,
        **{key.key: value[key.key] for key in LATENCIES},
    )
