"""Operators behind a convolution: ReLU, poolings, and the loss's own."""

from __future__ import annotations

from typing import Any

from merp.models.base.shape import Pool
from merp.models.onnx.assembly import Assembly
from merp.models.onnx.node import Node
from merp.models.onnx.windows import one_of, pads_of

NEW_SOFTMAX = 13
"""Operator set from which Softmax is of one axis, not of all behind it."""


def relu(assembly: Assembly, node: Node) -> None:
    """ReLU, which is in front of pooling here; behind a maximum it gives the same, both ways.

    The largest of max(x, 0) is max(largest, 0). Where it is above 0 it stands at the same place,
    and where it is not no delta passes.
    """
    node.takes(1)
    node.has("consumed_inputs")
    layer = assembly.last(node)
    if assembly.pooled and not assembly.activated:
        if assembly.pooled["kind"] != "max":
            raise node.refuse("follows average pooling: ReLU must be in front of it")
        assembly.said[node] = (
            f"{node.label} of {layer.name} is put in front of its maximum pooling: equal"
        )
    assembly.extend(node, {"relu": True})


def max_pool(assembly: Assembly, node: Node) -> None:
    """MaxPool."""
    node.only("storage_order", 0)
    if any(node.outputs[1:]):
        raise node.refuse("gives indices: allowed is the maximum alone")
    dilations = node.wholes("dilations", (1, 1))
    if dilations != [1, 1]:
        raise node.bad("dilations", dilations, "[1, 1]")
    _pool(assembly, node, "max")


def average_pool(assembly: Assembly, node: Node) -> None:
    """AveragePool: an average counts the zeros of padding, where there is any."""
    counted = node.whole("count_include_pad", 0)
    dilations = node.wholes("dilations", (1, 1))
    if dilations != [1, 1]:
        raise node.bad("dilations", dilations, "[1, 1]")
    pad = _pool(assembly, node, "average").pad
    if pad and not counted:
        raise node.bad("count_include_pad", counted, "1 where there is padding")


def global_average_pool(assembly: Assembly, node: Node) -> None:
    """GlobalAveragePool: average pooling with a window as large as the map."""
    node.takes(1)
    rows, columns, _ = assembly.size
    _check_maps(assembly, node)
    if rows != columns:
        raise node.refuse(f"maps of {rows} x {columns}: must be square")
    if rows > 1:
        _add(assembly, node, {"kind": "average", "window": rows, "stride": rows})


def softmax(assembly: Assembly, node: Node) -> None:
    """Softmax or LogSoftmax over the classes, at the end: the loss has its own."""
    node.takes(1)
    assembly.last(node)
    rows, columns, _ = assembly.size
    old = assembly.graph.opset < NEW_SOFTMAX
    axis = node.whole("axis", 1 if old else -1)
    classes = {1, -1} if assembly.flat else {1, -3}
    if (rows, columns) != (1, 1) or axis not in classes:
        raise node.bad("axis", axis, "1, over the features of a full connection")
    assembly.end(node)
    assembly.said[node] = f"{node.label} is left to the loss"


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
    """Whether the last windows on maps of such a size are partial, beyond the padding."""
    windows = f"ceil_mode = 1: windows of {pool.window} every {pool.stride} on {rows} x {columns}"
    try:
        partial = pool.rounded_up(rows, columns) != pool
    except ValueError as error:
        raise node.refuse(f"{windows} hang over by their stride or more: must be 0") from error
    if partial and pool.kind == "average":
        raise node.refuse(f"{windows} leave a part over: must be 0, averages are of whole windows")
    return partial


def _check_maps(assembly: Assembly, node: Node) -> None:
    assembly.last(node)
    if assembly.flat:
        raise node.refuse("takes features without rows and columns: must follow a convolution")
    if assembly.pooled:
        raise node.refuse("a second pooling behind a convolution: allowed is one")


def _add(assembly: Assembly, node: Node, keys: dict[str, Any]) -> None:
    assembly.extend(node, {"pool": keys})
