"""Import operators that return their input, or give its elements another shape."""

from __future__ import annotations

from math import prod

from merp.models.onnx.assembly import DIFFERS, Assembly
from merp.models.onnx.axes import meant, transposed
from merp.models.onnx.node import Node
from merp.models.onnx.tensor import DIMENSIONS, KINDS

VOLUMES = 5
"""Axes of maps that are split into groups: images, groups, channels, rows, columns."""


def flatten(assembly: Assembly, node: Node) -> None:
    """Import Flatten of all axes except the images."""
    node.takes(1)
    dimensions = 2 if assembly.flat else 4
    axis = node.whole("axis", 1)
    if axis not in (1, 1 - dimensions):
        raise node.bad("axis", axis, "1")
    assembly.flatten(node)


def reshape(assembly: Assembly, node: Node) -> None:
    """Import Reshape into (images, features), into the same size, or into maps of one element."""
    node.takes(2)
    shape = node.required(1)
    keeps_zero = node.whole("allowzero", 0)
    if shape.kind is None or shape.kind.name != "int64" or len(shape.shape) != 1:
        raise node.refuse("its shape must be a vector of whole numbers")
    if prod(shape.shape) > DIMENSIONS:
        raise node.refuse(f"its shape has {prod(shape.shape)} numbers: must be two")
    found = [int(each) for each in shape.array()]
    elements = assembly.elements
    sizes = _sizes(assembly)
    if len(found) == VOLUMES:
        raise node.refuse(
            f"shape = {found}: splits the maps into groups: a channel shuffle needs a block that "
            "permutes maps, which is missing"
        )
    if _fits(found, sizes, sizes, keeps_zero):
        return
    if assembly.flat and _fits(found, [sizes[0], elements, 1, 1], sizes, keeps_zero):
        assembly.unflatten()
    elif _fits(found, [sizes[0], elements], sizes, keeps_zero):
        assembly.flatten(node)
    else:
        raise node.bad("shape", found, f"[0, -1] or [-1, {elements}], a flattening")


def squeeze(assembly: Assembly, node: Node) -> None:
    """Import Squeeze of maps with one element into features."""
    node.takes(2)
    rows, columns, _ = assembly.size
    axes = node.operand(1)
    if axes is not None and (axes.kind is None or axes.kind.name != "int64" or axes.shape != (2,)):
        raise node.refuse("axes: must be [2, 3]")
    order = assembly.value.axes
    both = order.index(2), order.index(3)
    found = [int(x) for x in axes.array()] if axes is not None else node.wholes("axes", both)
    if assembly.flat or (rows, columns) != (1, 1) or meant(order, found) != {2, 3}:
        raise node.bad("axes", found, f"{list(both)}, of maps of one element")
    assembly.flatten(node)


def transpose(assembly: Assembly, node: Node) -> None:
    """Import Transpose of maps: no element moves, later nodes know the order of the axes."""
    node.takes(1)
    order = (0, 1) if assembly.flat else assembly.value.axes
    found = node.wholes("perm", range(len(order) - 1, -1, -1))
    try:
        axes = transposed(order, found)
    except ValueError as error:
        raise node.bad("perm", found, f"a permutation of {len(order)} axes") from error
    if not assembly.flat:
        assembly.transpose(axes)
    elif axes != order:
        raise node.bad("perm", found, "[0, 1], of features")


def cast(assembly: Assembly, node: Node) -> None:
    """Import Cast to the type of the images."""
    node.takes(1)
    node.whole("saturate", 1)
    node.text("round_mode", "up")
    code, kind = node.whole("to", 0), assembly.graph.image.kind
    if KINDS.get(code) != kind:
        found = KINDS[code].name if code in KINDS else code
        raise node.bad("to", found, f"{kind.name}, like the images")


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


def lrn(assembly: Assembly, node: Node) -> None:
    """Import LRN by its omission, if that is allowed; one note is about all of them."""
    if not assembly.allowed.without_lrn:
        raise node.refuse(
            "local response normalisation is not supported: merp import --without-lrn omits it"
        )
    node.takes(1)
    assembly.last(node)
    node.whole("size", 1)
    for name in ("alpha", "beta", "bias"):
        node.number(name, 1.0)
    every = [each for each in assembly.graph.nodes if each.operator == node.operator]
    if node is every[0]:
        count = "1 LRN is" if len(every) == 1 else f"{len(every)} LRNs are"
        assembly.said[node] = f"{count} omitted: {DIFFERS}"


def _sizes(assembly: Assembly) -> list[int]:
    """Return the size of the value, with the number of images of the model, 1 if it is open."""
    images, (rows, columns, channels) = assembly.graph.image.batch or 1, assembly.size
    if assembly.flat:
        return [images, rows * columns * channels]
    return [(images, channels, rows, columns)[axis] for axis in assembly.value.axes]


def _fits(found: list[int], wanted: list[int], sizes: list[int], keeps_zero: int) -> bool:
    """Return whether the shape ``found`` of a Reshape of ``sizes`` means the size ``wanted``."""
    zeros = [0 if keeps_zero else size for size in sizes] + [0] * len(found)
    meanings = [zero if each == 0 else each for each, zero in zip(found, zeros, strict=False)]
    return (
        len(meanings) == len(wanted)
        and meanings.count(-1) <= 1
        and all(each in (-1, size) for each, size in zip(meanings, wanted, strict=True))
    )
