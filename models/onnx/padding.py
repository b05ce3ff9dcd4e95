"""Import Pad: it becomes padding of the convolution or pooling that follows."""

from __future__ import annotations

import math
from math import prod
from typing import Any

from merp.models.onnx.assembly import Assembly
from merp.models.onnx.node import Node
from merp.models.onnx.tensor import DIMENSIONS
from merp.models.onnx.windows import LARGEST, Padding

AS_INPUTS = 11
"""First operator set in which the numbers are inputs of Pad, not attributes."""


def pad(assembly: Assembly, node: Node) -> None:
    """Import Pad of rows and columns by a constant value."""
    mode = node.text("mode", "constant")
    if mode != "constant":
        raise node.bad("mode", mode, "constant: the hardware pads with zeros")
    first, last, value = _numbers(assembly, node)
    sides = dict.fromkeys(range(4), (0, 0))
    for axis, each in zip(assembly.value.axes, zip(first, last, strict=True), strict=True):
        sides[axis] = each
    (top, bottom), (left, right) = sides[2], sides[3]
    found = top, left, bottom, right
    if (sides[0], sides[1]) != ((0, 0), (0, 0)) or not all(0 <= x <= LARGEST for x in found):
        raise node.bad("pads", first + last, "whole numbers from 0, of rows and columns alone")
    if not any(found):
        return
    earlier = assembly.value.padding
    if earlier is not None:
        if earlier.value != value:
            raise node.refuse(f"pads with {value:g}, {earlier.node.label} with {earlier.value:g}")
        top, left, bottom, right = (
            one + other for one, other in zip(found, earlier.sides, strict=True)
        )
    assembly.pad(Padding(node, (top, left, bottom, right), value))
    assembly.said[node] = f"{node.label} becomes padding of the layer that follows"


def _numbers(assembly: Assembly, node: Node) -> tuple[list[int], list[int], float]:
    """Return the elements before and after each axis, and their value."""
    if assembly.flat:
        raise node.refuse("pads features: allowed are maps")
    if assembly.graph.opset < AS_INPUTS:
        node.takes(1)
        every = node.wholes("pads", [0] * 8)
        return every[:4], every[4:], node.number("value", 0.0)
    node.takes(4)
    value = node.operand(2)
    pads, given = _wholes(node, 1), _wholes(node, 3)
    axes = [each % 4 for each in given or range(4) if -4 <= each < 4]
    if len(set(axes)) != len(given or range(4)):
        raise node.bad("axes", given, "different axes of maps, from -4 to 3")
    if pads is None or len(pads) != 2 * len(axes):
        raise node.bad("pads", pads, f"{2 * len(axes)} numbers, two for each axis")
    first, last = [0] * 4, [0] * 4
    for axis, less, more in zip(axes, pads, pads[len(axes) :], strict=False):
        first[axis], last[axis] = less, more
    if value is None:
        return first, last, 0.0
    if value.kind is None or prod(value.shape) != 1:
        raise node.refuse("constant_value: must be one number")
    number: Any = value.array().reshape(-1)[0]
    if math.isnan(number):
        raise node.bad("constant_value", float(number), "a number")
    return first, last, float(number)


def _wholes(node: Node, index: int) -> list[int] | None:
    """Return a short constant input of whole numbers; None if it is omitted."""
    found = node.operand(index)
    if found is None:
        return None
    whole = found.kind is not None and found.kind.name in ("int32", "int64")
    if not whole or len(found.shape) != 1 or prod(found.shape) > 2 * DIMENSIONS:
        raise node.refuse(
            f"input {index + 1}: must be a vector of whole numbers, two for each axis"
        )
    return [int(each) for each in found.array()]
