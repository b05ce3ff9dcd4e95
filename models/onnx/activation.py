"""Operators behind a convolution: ReLU, poolings, and the loss's own."""

from __future__ import annotations

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
    """AveragePool: without padding it does not matter what padding counts."""
    node.whole("count_include_pad", 0)
    dilations = node.wholes("dilations", (1, 1))
    if dilations != [1, 1]:
        raise node.bad("dilations", dilations, "[1, 1]")
    _pool(assembly, node, "average")


def global_average_pool(assembly: Assembly, node: Node) -> None:
    """GlobalAveragePool: average pooling with a window as large as the map."""
    node.takes(1)
    rows, columns, _ = assembly.size
    _check_maps(assembly, node)
    if rows != columns:
        raise node.refuse(f"maps of {rows} x {columns}: must be square")
    if rows > 1:
        _add(assembly, node, "average", rows, rows)


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


def _pool(assembly: Assembly, node: Node, kind: str) -> None:
    node.takes(1)
    _check_maps(assembly, node)
    if "kernel_shape" not in node.attributes:
        raise node.refuse("kernel_shape is missing")
    window = one_of(node, "kernel_shape", node.wholes("kernel_shape", (1, 1)))
    stride = one_of(node, "strides", node.wholes("strides", (1, 1)))
    size = assembly.size[:2]
    pads = pads_of(node, size, window, stride)
    if any(pads):
        raise node.bad("pads", pads, "[0, 0, 0, 0]: pooling has no padding")
    if node.whole("ceil_mode", 0) not in (0, 1):
        raise node.refuse("ceil_mode: must be 0 or 1")
    if node.whole("ceil_mode", 0) and any((each - window) % stride for each in size):
        raise node.refuse(
            f"ceil_mode = 1: windows of {window} every {stride} leave a part of {size[0]} x "
            f"{size[1]} over: must be 0, partial windows are dropped"
        )
    _add(assembly, node, kind, window, stride)


def _check_maps(assembly: Assembly, node: Node) -> None:
    assembly.last(node)
    if assembly.flat:
        raise node.refuse("takes features without rows and columns: must follow a convolution")
    if assembly.pooled:
        raise node.refuse("a second pooling behind a convolution: allowed is one")


def _add(assembly: Assembly, node: Node, kind: str, window: int, stride: int) -> None:
    assembly.extend(node, {"pool": {"kind": kind, "window": window, "stride": stride}})
