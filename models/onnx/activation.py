"""Import operators that follow a convolution: ReLU, poolings, and the activation of the loss."""

from __future__ import annotations

from math import inf, prod
from typing import Any

import numpy as np

from merp.models.base.shape import LEAKY_RELU, RELU6, Pool
from merp.models.base.six import SIX
from merp.models.network.network_keys import MAX_OBLONG, POOLING, WHOLE_MAP
from merp.models.onnx.assembly import DIFFERS, Assembly, HalfMean
from merp.models.onnx.axes import meant
from merp.models.onnx.node import Node
from merp.models.onnx.tensor import DIMENSIONS
from merp.models.onnx.together import parts_of
from merp.models.onnx.windows import Padding, one_of, pads_of

HIGH = 1e38
"""A limit from which on a maximum is none: exporters write the largest binary32."""

MIXED = 3
"""Axes of a mean that keeps one of rows and columns; both must stay, or none."""

COUNTED = "Padding of averages counts"

NEW_SOFTMAX = 13
"""First operator set in which Softmax acts on one axis, not on all axes from ``axis`` on."""


def relu(assembly: Assembly, node: Node, inputs: int = 1, *, relu6: bool = False) -> None:
    """Import Relu. A layer has its ReLU before pooling; a Relu after max pooling is moved there.

    Forward and backward propagation are the same. The maximum of max(x, 0) is max(maximum, 0). If
    it is above 0, its position is the same. If it is 0, no delta is propagated. ReLU6 propagates
    no delta if its maximum is 6. It stays ReLU6 before and after another ReLU.
    """
    node.takes(inputs)
    node.has("consumed_inputs")
    layer = assembly.last(node)
    done = layer.stops if relu6 else layer.activated
    _activate(assembly, node, {"activation": RELU6} if relu6 else {"relu": True}, done=done)


def leaky_relu(assembly: Assembly, node: Node) -> None:
    """Import LeakyRelu. After max pooling it is moved in front, because it is monotone.

    Behind a ReLU it changes nothing. A ReLU behind it takes its place.
    """
    node.takes(1)
    node.has("consumed_inputs")
    alpha = node.number("alpha", 0.01)
    if not 0 < alpha < 1:
        raise node.bad("alpha", alpha, "above 0 and below 1")
    layer = assembly.last(node)
    if any(part.leaks for part in parts_of(layer)):
        raise node.refuse("follows another LeakyRelu: allowed is one, whose product is rounded")
    slope = float(str(np.float32(alpha)))  # the shortest number that is nearest to the same word
    _activate(assembly, node, {"activation": LEAKY_RELU, "slope": slope}, done=layer.activated)


def _activate(assembly: Assembly, node: Node, keys: dict[str, Any], *, done: bool) -> None:
    """Add an activation; ``done``: outputs of the layer are such that it changes nothing."""
    if assembly.pooled and not done:
        if assembly.pooled["kind"] != "max":
            raise node.refuse("follows average pooling: ReLU must precede it")
        assembly.said[node] = (
            f"{node.label} of {assembly.last(node).name} is moved before its maximum pooling, "
            "which is equivalent"
        )
    assembly.extend(node, keys)


def clip(assembly: Assembly, node: Node) -> None:
    """Import Clip from 0 without a maximum, which is ReLU, or to 6, which is ReLU6."""
    low, high = _limit(node, 1, "min", -inf), _limit(node, 2, "max", inf)
    if low != 0 or (high != SIX and not high >= HIGH):
        raise node.bad("range", [low, high], "[0, inf], which is ReLU, or [0, 6], which is ReLU6")
    relu(assembly, node, inputs=3, relu6=high == SIX)


def _limit(node: Node, index: int, attribute: str, default: float) -> float:
    """Return a limit of Clip, which is an input or an attribute."""
    given = node.operand(index)
    if given is None:
        return node.number(attribute, default)
    if given.kind is None or given.shape not in ((), (1,)):
        raise node.refuse(f"{attribute}: must be one number")
    return float(given.array().reshape(-1)[0])


def max_pool(assembly: Assembly, node: Node) -> None:
    """Import MaxPool."""
    node.only("storage_order", 0)
    if any(node.outputs[1:]):
        raise node.refuse("has an output of indices: allowed is the maximum alone")
    dilations = node.wholes("dilations", (1, 1))
    if dilations != [1, 1]:
        raise node.bad("dilations", dilations, "[1, 1]")
    _pool(assembly, node, "max")


def average_pool(assembly: Assembly, node: Node) -> None:
    """Import AveragePool. With padding, its zeros must count in the averages."""
    counted = node.whole("count_include_pad", 0)
    dilations = node.wholes("dilations", (1, 1))
    if dilations != [1, 1]:
        raise node.bad("dilations", dilations, "[1, 1]")
    _pool(assembly, node, "average", own=bool(counted))


def global_average_pool(assembly: Assembly, node: Node) -> None:
    """Import GlobalAveragePool: average pooling with a window as large as the map."""
    node.takes(1)
    _global_average(assembly, node)


def reduce_mean(assembly: Assembly, node: Node) -> None:
    """Import ReduceMean over rows and columns, which is global average pooling."""
    node.takes(2)
    node.whole("noop_with_empty_axes", 0)
    given = node.operand(1)
    if given is None:
        most = len(node.attributes["axes"].ints) if "axes" in node.attributes else 0
        found = node.wholes("axes", [0] * most) if most <= DIMENSIONS else []
    elif given.kind is None or given.kind.name != "int64" or prod(given.shape) > DIMENSIONS:
        raise node.refuse("axes: must be a vector of whole numbers")
    else:
        found = [int(each) for each in given.array().reshape(-1)]
    keeps = node.whole("keepdims", 1)
    before = assembly.value.halved
    axes = before.axes if before else assembly.value.axes
    named = set() if assembly.flat else meant(axes, found)
    left = axes if keeps else tuple(axis for axis in axes if axis not in named)
    if before is None and len(found) == 1 and named in ({2}, {3}):
        assembly.halve(HalfMean(node, left, *named))
        return
    wanted = {2, 3} if before is None else {2, 3} - {before.axis}
    if len(found) != len(wanted) or named != wanted or len(left) == MIXED:
        places = [axes.index(axis) for axis in sorted(wanted)]
        raise node.bad("axes", found, f"{places}, rows and columns, with equal keepdims")
    assembly.halve(None)
    _global_average(assembly, node)
    if not keeps:
        assembly.flatten(node)


def softmax(assembly: Assembly, node: Node) -> None:
    """Import Softmax or LogSoftmax over the classes, as the last node: the loss includes it."""
    node.takes(1)
    assembly.last(node)
    rows, columns, _ = assembly.size
    old = assembly.graph.opset < NEW_SOFTMAX
    axis = node.whole("axis", 1 if old else -1)
    classes = meant((0, 1) if assembly.flat else assembly.value.axes, [axis])
    if (rows, columns) != (1, 1) or classes != {1}:
        raise node.bad("axis", axis, "1, over the features of a full connection")
    assembly.end(node)
    assembly.said[node] = f"{node.label} is omitted: the loss includes it"


def _pool(assembly: Assembly, node: Node, kind: str, *, own: bool = True) -> None:
    """Import a pooling; ``own`` tells whether it may have padding of its own."""
    node.takes(1)
    _check_flat(assembly, node)
    if "kernel_shape" not in node.attributes:
        raise node.refuse("kernel_shape is missing")
    window = one_of(node, "kernel_shape", node.wholes("kernel_shape", (1, 1)))
    stride = one_of(node, "strides", node.wholes("strides", (1, 1)))
    rows, columns, _ = assembly.size
    padding = assembly.value.padding
    top, left, bottom, right = sides = pads_of(node, (rows, columns), window, stride, padding)
    if not own and sides != list(padding.sides if padding else (0, 0, 0, 0)):
        if padding is None and _is_whole(assembly, window, stride, sides):
            _global_average(assembly, node)
            return
        _count_padding(assembly, node)
    ceil = node.whole("ceil_mode", 0)
    if ceil not in (0, 1):
        raise node.refuse("ceil_mode: must be 0 or 1")
    if (window, stride) == (1, 1) and not any(sides):
        assembly.said[node] = f"{node.label} is omitted: its windows are single elements"
        return
    if padding is not None:
        _check_padding(assembly, padding, kind)
    sizes = rows + top + bottom, columns + left + right
    if all(window <= each < window + (1 if ceil else stride) for each in sizes):
        stride = max(stride, window)  # of a single window
    keys: dict[str, Any] = {"kind": kind, "window": window, "stride": stride}
    try:
        pool = Pool(**keys, pad=(top, left, bottom, right))
    except ValueError as error:
        most = Pool(**keys).most_pad
        raise node.bad(
            "pads", [top, left, bottom, right], f"from 0 to {most}, below the window"
        ) from error
    if pool.pad:
        keys["pad"] = pool.pad if isinstance(pool.pad, int) else list(pool.pad)
    if ceil and _partial(node, pool, rows, columns):
        keys["ceil"] = True
    _add(assembly, node, keys)


def _is_whole(assembly: Assembly, window: int, stride: int, sides: list[int]) -> bool:
    """Return whether the only window contains the whole map, so that its average is that of it."""
    top, left, bottom, right = sides
    rows, columns, _ = assembly.size
    whole = all(each <= window - before for each, before in ((rows, top), (columns, left)))
    sizes = top + rows + bottom, left + columns + right
    return whole and all(window <= each < window + stride for each in sizes)


def _count_padding(assembly: Assembly, node: Node) -> None:
    """Count the padding of an average as zeros, if that is allowed; one note is about all."""
    if not assembly.allowed.count_padding:
        raise node.refuse(
            "count_include_pad = 0: must be 1 with padding, averages divide by the whole window: "
            "merp import --count-padding counts the zeros"
        )
    if not any(said.startswith(COUNTED) for said in assembly.said.values()):
        assembly.said[node] = f"{COUNTED} as zeros: {DIFFERS}"


def _add(assembly: Assembly, node: Node, keys: dict[str, Any]) -> None:
    """Add a pooling to the layers before ``node``, or as a layer of its own.

    It is a layer of its own if they have pooling, another node takes their output, too, or the
    pooling is of the images.
    """
    front = assembly.value.layer
    if front is None or front.pooled or assembly.others(assembly.value, node):
        assembly.begin(node, POOLING, None, None, {"pool": keys})
        return
    assembly.extend(node, {"pool": keys})


def _global_average(assembly: Assembly, node: Node) -> None:
    """Import the averages of whole maps."""
    _check_flat(assembly, node)
    rows, columns, _ = assembly.size
    if (rows, columns) == (1, 1):
        return
    if rows != columns:
        if max(rows, columns) > MAX_OBLONG:
            raise node.refuse(
                f"maps of {rows} x {columns}: must be square, or at most {MAX_OBLONG} x "
                f"{MAX_OBLONG}, the largest kernel of engines"
            )
        pool = {"kind": "average", "window": WHOLE_MAP}
        assembly.begin(node, POOLING, None, None, {"pool": pool})
        return
    _add(assembly, node, {"kind": "average", "window": rows, "stride": rows})


def _check_padding(assembly: Assembly, padding: Padding, kind: str) -> None:
    """Check that a pooling has the same result with its own padding as with that of a Pad."""
    if kind == "average" and padding.value != 0:
        raise padding.node.bad("constant_value", padding.value, "0 before average pooling")
    # Maxima ignore padding. A 0 around them has no effect if no element is below 0.
    if kind == "max" and padding.value != -inf and (padding.value or not assembly.activated):
        raise padding.node.bad(
            "constant_value", padding.value, "-inf before maximum pooling, or 0 after ReLU"
        )


def _partial(node: Node, pool: Pool, rows: int, columns: int) -> bool:
    """Return whether the last windows extend beyond the padded map of this size."""
    partial = pool.rounded_up(rows, columns) != pool
    if partial and pool.kind == "average":
        windows = f"windows of {pool.window} every {pool.stride} on {rows} x {columns}"
        raise node.refuse(
            f"ceil_mode = 1: {windows} are partial: must be 0, averages need whole windows"
        )
    return partial


def _check_flat(assembly: Assembly, node: Node) -> None:
    if assembly.flat:
        raise node.refuse("takes features without rows and columns: must follow a convolution")
