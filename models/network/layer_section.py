"""Read [[layer]] and the size of the images of a network file; docs/networks.md has the keys."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from merp.models.base.fixed import FIXED16, FixedFormat
from merp.models.base.formats import BINARY32, FloatFormat
from merp.models.base.nearest import nearest_word
from merp.models.base.shape import (
    LEAKY_RELU,
    NO_ACTIVATION,
    RELU6,
    RELU_ONLY,
    TANH,
    Pool,
    Shape,
    sides,
)
from merp.models.base.toml_section import Section
from merp.models.network.fixed_table import LAYER_KEY
from merp.models.network.network import Layer
from merp.models.network.network_keys import (
    ACTIVATION,
    ADD,
    CHANNELS,
    COLUMNS,
    FORMAT,
    GROUPS,
    INPUT_OF,
    KERNEL,
    KINDS,
    MAPS,
    MAX_MAPS,
    MAX_OBLONG,
    PAD,
    POOL_CEIL,
    POOL_KIND,
    POOL_PAD,
    POOL_STRIDE,
    POOL_WINDOW,
    POOLING,
    RELU,
    ROWS,
    SLOPE,
    STRIDE,
    TRAINABLE,
    WHOLE_MAP,
)

Size = tuple[int, int, int]  # rows, columns, channels


def read_input(section: Section) -> Size:
    """Read ``input`` of [network], the size of the images."""
    size = ROWS.read(section), COLUMNS.read(section), CHANNELS.read(section)
    section.finish()
    return size


def output_of(layer: Layer) -> Size:
    """Return the size of the output of a layer."""
    return layer.shape.pooled_rows, layer.shape.pooled_columns, layer.biases


def read_layer(
    section: Section,
    name: str,
    front: Size,
    designs: Mapping[str, str | None],
    outputs: Mapping[str, Size],
    numbers: FloatFormat | FixedFormat,
) -> Layer:
    """Read one [[layer]] that follows those with ``outputs``; by default its input has size
    ``front``.

    designs: allowed values of ``design``, with the design of each; None leaves it to the plan.
    """
    kind = next((kind for kind in KINDS if name.startswith(kind)), None)
    if kind is None:
        raise section.bad("name", "conv..., fc... or pool..., which gives the kind of layer")
    section.where = f"layer {name}"
    if kind == POOLING:
        return _pooling(section, name, front, designs, outputs, numbers)
    maps = MAPS.read(section)
    activation = _activation(section, RELU_ONLY, numbers)
    design, taken, size = _place(section, front, designs, outputs)
    if kind == "conv":
        groups, shape = _convolution(section, size, maps)
    else:
        rows, columns, channels = size
        groups = 1
        shape = Shape(n=rows * columns * channels, m=maps, k=1, rows=1, columns=1)
    _check_pooling(section, activation, shape.pool)
    shape = replace(shape, **activation)
    add = ADD.read(section, outputs)
    sums = shape.out_rows, shape.out_columns, groups * shape.m
    if add is not None and outputs[add] != sums:
        raise section.bad("add", f"a layer whose output is of the size of the sums, {_by(sums)}")
    trainable = TRAINABLE.read(section)
    section.finish()
    return Layer(
        name=name,
        kind=kind,
        groups=groups,
        shape=shape,
        design=design,
        input=taken,
        add=add,
        trainable=trainable,
    )


def _place(
    section: Section,
    front: Size,
    designs: Mapping[str, str | None],
    outputs: Mapping[str, Size],
) -> tuple[str | None, str | tuple[str, ...] | None, Size]:
    """Return the design of a layer, the names of the layers that it takes, and its input's size."""
    design = designs[section.choice("design", designs)] if section.has("design") else None
    section.has(LAYER_KEY)  # read before, with the network's
    taken = INPUT_OF.read(section, outputs)
    return design, taken, _taken(section, taken, outputs) if taken else front


def _pooling(
    section: Section,
    name: str,
    front: Size,
    designs: Mapping[str, str | None],
    outputs: Mapping[str, Size],
    numbers: FloatFormat | FixedFormat,
) -> Layer:
    """Read a [[layer]] that only pools: a convolution with kernels of 1, a group for each map."""
    design, taken, (rows, columns, maps) = _place(section, front, designs, outputs)
    activation = _activation(section, NO_ACTIVATION, numbers)
    if _is_of_map(section):
        if activation["relu"] or activation["tanh"]:
            raise section.bad(ACTIVATION.key, f"absent with window = {WHOLE_MAP!r}")
        pooled = _whole_map(section, rows, columns)
    else:
        shape = _pooled(section, Shape(n=1, m=1, k=1, rows=rows, columns=columns))
        _check_pooling(section, activation, shape.pool)
        pooled = replace(shape, **activation)
    section.finish()
    return Layer(
        name=name,
        kind="conv",
        groups=maps,
        shape=pooled,
        design=design,
        input=taken,
        trainable=False,
        only_pools=True,
    )


def _is_of_map(section: Section) -> bool:
    """Return whether the window of ``pool``, which is required, is the whole map."""
    pool = section.value("pool")
    return isinstance(pool, dict) and pool.get("window") == WHOLE_MAP


def _whole_map(section: Section, rows: int, columns: int) -> Shape:
    """Return the average of a whole map as a convolution; its kernel is as large as the map.

    The kernel is square. Zeros are around the shorter side of the map.
    """
    pool = section.table("pool")
    kind = POOL_KIND.read(pool)
    pool.value("window")
    pool.finish()
    if kind != "average":
        raise pool.bad("window", f"a whole number, {WHOLE_MAP!r} is for kind = 'average'")
    k = max(rows, columns)
    if k > MAX_OBLONG:
        raise pool.bad(
            "window",
            f"a whole number: the map has {rows} x {columns}, which exceeds "
            f"{MAX_OBLONG} x {MAX_OBLONG}",
        )
    pad = 0, 0, k - rows, k - columns
    return Shape(n=1, m=1, k=k, rows=rows, columns=columns, pad=pad, relu=False)


def _taken(section: Section, names: str | Sequence[str], outputs: Mapping[str, Size]) -> Size:
    """Return the size of one output, or of several together, whose maps follow each other."""
    if isinstance(names, str):
        return outputs[names]
    sizes = [outputs[name] for name in names]
    if len({size[:2] for size in sizes}) > 1:
        found = ", ".join(f"{name} {_by(outputs[name])}" for name in names)
        raise section.bad(INPUT_OF.key, f"layers with equal rows and columns, not {found}")
    maps = sum(size[2] for size in sizes)
    if maps > MAX_MAPS:
        raise section.bad(
            INPUT_OF.key, f"layers of at most {MAX_MAPS:,} maps together, not {maps:,}"
        )
    return *sizes[0][:2], maps


def _activation(
    section: Section, default: str, numbers: FloatFormat | FixedFormat
) -> dict[str, Any]:
    """Read the activation of [[layer]]; return it as fields of a ``Shape``.

    Raises:
        BadInput: a value is not allowed.
    """
    activation = _named_activation(section, default)
    slope = 0
    if activation == LEAKY_RELU:
        slope = _slope(section, numbers)
    elif section.has(SLOPE.key):
        raise section.bad(SLOPE.key, f"absent without {ACTIVATION.key} = {LEAKY_RELU!r}")
    if activation == TANH and numbers != BINARY32:
        others = ", ".join(each for each in ACTIVATION.allowed if each not in (TANH, LEAKY_RELU))
        raise section.bad(
            ACTIVATION.key, f"one of {others}: {TANH} needs {FORMAT.key} = 'binary32'"
        )
    return {
        "relu": activation not in (NO_ACTIVATION, TANH),
        "relu6": activation == RELU6,
        "slope": slope,
        "tanh": activation == TANH,
    }


def _check_pooling(section: Section, activation: Mapping[str, Any], pool: Pool | None) -> None:
    """Refuse tanh of an average: tanh follows the maximum, which gives the same output."""
    if activation["tanh"] and pool is not None and pool.kind != "max":
        raise section.bad(
            ACTIVATION.key, f"another one with pool.kind = {pool.kind!r}: {TANH} needs 'max'"
        )


def _slope(section: Section, numbers: FloatFormat | FixedFormat) -> int:
    """Read ``slope`` of leaky ReLU; return the nearest word of the number format.

    Raises:
        BadInput: the value is out of range, or the format has no normal number near it.
    """
    if isinstance(numbers, FixedFormat):
        others = ", ".join(each for each in ACTIVATION.allowed if each not in (LEAKY_RELU, TANH))
        raise section.bad(ACTIVATION.key, f"one of {others} with {FORMAT.key} = {FIXED16!r}")
    slope = SLOPE.read(section)
    if not 0 < slope < 1:
        raise section.bad(SLOPE.key, "above 0 and below 1")
    word = nearest_word(slope, numbers)
    if not word:
        least = f"2^{1 - numbers.bias}"
        raise section.bad(SLOPE.key, f"at least {least}, the smallest normal number of the format")
    return word


def _named_activation(section: Section, default: str) -> str:
    """Read ``activation`` of [[layer]], or its short form ``relu``; without both it is ``default``.

    Raises:
        BadInput: a value is not allowed, or both are given and differ.
    """
    given = section.has(ACTIVATION.key)
    activation = ACTIVATION.read(section) if given else default
    if not section.has(RELU.key):
        return activation
    short = RELU_ONLY if RELU.read(section) else NO_ACTIVATION
    if given and short != activation:
        raise section.bad(
            RELU.key, f"absent with {ACTIVATION.key} = {activation!r}: one of the two must go"
        )
    return short


def _by(size: Size) -> str:
    return " x ".join(map(str, size))


def _convolution(section: Section, size: Size, maps: int) -> tuple[int, Shape]:
    rows, columns, channels = size
    kernel = KERNEL.read(section)
    stride = STRIDE.read(section)
    pad = PAD.read(section, high=kernel - 1)
    groups = GROUPS.read(section)
    for what, count in (("input maps", channels), ("maps", maps)):
        if count % groups:
            raise section.bad("groups", f"a divisor of the {count} {what}")
    top, left, bottom, right = sides(pad)
    height, width = top + rows + bottom, left + columns + right
    if kernel > min(height, width):
        raise section.bad("kernel", f"no larger than the padded input map ({height} x {width})")
    shape = Shape(
        n=channels // groups,
        m=maps // groups,
        k=kernel,
        rows=rows,
        columns=columns,
        stride=stride,
        pad=pad,
    )
    return groups, _pooled(section, shape)


def _pooled(section: Section, shape: Shape) -> Shape:
    """Add the pooling of [[layer]], if any, to ``shape``."""
    if not section.has("pool"):
        return shape
    pool = section.table("pool")
    kind = POOL_KIND.read(pool)
    window = POOL_WINDOW.read(pool)
    stride = POOL_STRIDE.read(pool, default=window)
    around = POOL_PAD.read(pool, high=POOL_PAD.high)
    partial = POOL_CEIL.read(pool)
    pool.finish()
    if max(sides(around)) >= window:
        raise pool.bad("pad", f"at most {window - 1} on each side, below the window")
    found = Pool(kind=kind, window=window, stride=stride, pad=around)
    rows, columns = shape.out_rows, shape.out_columns
    if partial:
        found = found.rounded_up(rows, columns)
        if kind == "average" and sides(found.pad) != sides(around):
            raise pool.bad("ceil", "false if a window of average pooling would be partial")
    if not (found.rows(rows) and found.columns(columns)):
        sums = f"{rows} x {columns}" + (" and its padding" if found.pad else "")
        raise pool.bad("window", f"no larger than the convolution's output ({sums})")
    return replace(shape, pool=found)
