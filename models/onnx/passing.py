"""Import operators that return their input, or the elements of their input as a vector."""

from __future__ import annotations

from math import prod

from merp.models.onnx.assembly import Assembly
from merp.models.onnx.node import Node
from merp.models.onnx.tensor import DIMENSIONS


def flatten(assembly: Assembly, node: Node) -> None:
    """Import Flatten of all axes except the images."""
    node.takes(1)
    dimensions = 2 if assembly.flat else 4
    axis = node.whole("axis", 1)
    if axis not in (1, 1 - dimensions):
        raise node.bad("axis", axis, "1")
    assembly.flatten()


def reshape(assembly: Assembly, node: Node) -> None:
    """Import Reshape into (images, features)."""
    node.takes(2)
    shape = node.required(1)
    keeps_zero = node.whole("allowzero", 0)
    if shape.kind is None or shape.kind.name != "int64" or len(shape.shape) != 1:
        raise node.refuse("its shape must be a vector of whole numbers")
    if prod(shape.shape) > DIMENSIONS:
        raise node.refuse(f"its shape has {prod(shape.shape)} numbers: must be two")
    found = [int(each) for each in shape.array()]
    batch, elements = assembly.graph.image.batch, assembly.elements
    images = {-1, batch} if keeps_zero else {0, -1, batch}
    features = {elements, -1}
    if not keeps_zero and assembly.flat and assembly.size[:2] == (1, 1):
        features.add(0)
    right = len(found) == 2 and found[0] in images and found[1] in features
    if not right or found == [-1, -1]:
        raise node.bad("shape", found, f"[0, -1] or [-1, {elements}], a flattening")
    assembly.flatten()


def squeeze(assembly: Assembly, node: Node) -> None:
    """Import Squeeze of maps with one element into features."""
    node.takes(2)
    rows, columns, _ = assembly.size
    axes = node.operand(1)
    if axes is not None and (axes.kind is None or axes.kind.name != "int64" or axes.shape != (2,)):
        raise node.refuse("axes: must be [2, 3]")
    found = [int(x) for x in axes.array()] if axes is not None else node.wholes("axes", (2, 3))
    if assembly.flat or (rows, columns) != (1, 1) or sorted(x % 4 for x in found) != [2, 3]:
        raise node.bad("axes", found, "[2, 3], of maps of one element")
    assembly.flatten()


def dropout(assembly: Assembly, node: Node) -> None:
    """Import Dropout, which has no effect in inference."""
    node.takes(3)
    node.number("ratio", 0.5)
    node.whole("seed", 0)
    node.whole("is_test", 1)
    training = node.operand(2)
    if training is not None and (training.kind is None or training.array().any()):
        raise node.refuse("training_mode: must be false")
    assembly.said[node] = f"{node.label} is omitted: it has no effect in inference"


def identity(assembly: Assembly, node: Node) -> None:
    """Import Identity."""
    node.takes(1)
