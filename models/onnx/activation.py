"""Operators that follow a convolution: ReLU, poolings, and the activation of the loss."""

from __future__ import annotations

from typing import Any

from merp.models.base.shape import Pool
from merp.models.onnx.assembly import Assembly
from merp.models.onnx.node import Node
from merp.models.onnx.windows import one_of, pads_of

NEW_SOFTMAX = 13
"""First operator set in which Softmax acts on one axis, not on all axes from ``axis`` on."""


def relu(assembly: Assembly, node: Node) -> None:
    """Import Relu. A layer has its ReLU before pooling; a Relu after max pooling is moved there.

    Forward and backward propagation are the same. The maximum of max(x, 0) is max(maximum, 0). If
    it is above 0, its position is the same. If it is 0, no delta is propagated.
    """
    node.takes(1)
    node.has("consumed_inputs")
    layer = assembly.last(node)
    if assembly.pooled and not assembly.activated:
        if assembly.pooled["kind"] != "max":
            raise node.refuse("follows average pooling: ReLU must precede it")
        assembly.said[node] = (
            f"{node.label} of {layer.name} is moved before its maximum pooling, which is equivalent"
        )
    assembly.extend(node, {"relu": True})


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
    pad = _pool(assembly, node, "average").pad
    if pad and not counted:
        raise node.bad("count_include_pad", counted, "1 with padding")


def global_average_pool(assembly: Assembly, node: Node) -> None:
    """Import GlobalAveragePool: average pooling with a window as large as the map."""
    node.takes(1)
    rows, columns, _ = assembly.size
    _check_maps(assembly, node)
    if rows != columns:
        raise node.refuse(f"maps of {rows} x {columns}: must be square")
    if rows > 1:
        _add(assembly, node, {"kind": "average", "window": rows, "stride": rows})


def softmax(assembly: Assembly, node: Node) -> None:
    """Import Softmax or LogSoftmax over the classes, as the last node: the loss includes it."""
    node.takes(1)
    assembly.last(node)
    rows, columns, _ = assembly.size
    old = assembly.graph.opset < NEW_SOFTMAX
    axis = node.whole("axis", 1 if old else -1)
    classes = {1, -1} if assembly.flat else {1, -3}
    if (rows, columns) != (1, 1) or axis not in classes:
        raise node.bad("axis", axis, "1, over the features of a full connection")
    assembly.end(node)
    assembly.said[node] = f"{node.label} is omitted: the loss includes it"


def _pool(assembly: Assembly, node: Node, kind: str) -> Pool:
    node.takes(1)
    _check_maps(assembly, node)
    if "kernel_shape" not in node.attributes:
        raise node.refuse("kernel_shape is missing")
    window = one_of(node, "kernel_shape", node.wholes("kernel_shape", (1, 1)))
    stride = one_of(node, "strides", node.wholes("strides", (1, 1)))
    rows, columns, _ = assembly.size
    top, left, bottom, right = pads_of(node, (rows, columns), window, stride)
    keys: dict[str, Any] = {"kind": kind, "window": window, "stride": stride}
    try:
        pool = Pool(**keys, pad=(top, left, bottom, right))
    except ValueError as error:
        most = Pool(**keys).most_pad
        raise node.bad(
            "pads", [top, left, bottom, right], f"from 0 to {most}, below window and stride"
        ) from error
    if pool.pad:
        keys["pad"] = pool.pad if isinstance(pool.pad, int) else list(pool.pad)
    if node.whole("ceil_mode", 0) not in (0, 1):
        raise node.refuse("ceil_mode: must be 0 or 1")
    if node.whole("ceil_mode", 0) and _partial(node, pool, rows, columns):
        keys["ceil"] = True
    _add(assembly, node, keys)
    return pool


def _partial(node: Node, pool: Pool, rows: int, columns: int) -> bool:
    """Return whether the last windows extend beyond the padded map of this size."""
    windows = f"ceil_mode = 1: windows of {pool.window} every {pool.stride} on {rows} x {columns}"
    try:
        partial = pool.rounded_up(rows, columns) != pool
    except ValueError as error:
        raise node.refuse(f"{windows} exceed the map by a stride or more: must be 0") from error
    if partial and pool.kind == "average":
        raise node.refuse(f"{windows} are partial: must be 0, averages need whole windows")
    return partial


def _check_maps(assembly: Assembly, node: Node) -> None:
    assembly.last(node)
    if assembly.flat:
        raise node.refuse("takes features without rows and columns: must follow a convolution")
    if assembly.pooled:
        raise node.refuse("is a second pooling after a convolution: allowed is one")


def _add(assembly: Assembly, node: Node, keys: dict[str, Any]) -> None:
    assembly.extend(node, {"pool": keys})
