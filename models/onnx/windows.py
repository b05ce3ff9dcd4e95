"""Read the attributes that convolutions and poolings share, and Pad, which both may follow."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from merp.models.onnx.node import Node

LARGEST = 1 << 20
"""Largest accepted number. The reader of network files checks the exact range later."""

Sides = tuple[int, int, int, int]


@dataclass(frozen=True)
class Padding:
    """Elements around maps, before a convolution or pooling.

    Attributes:
        node: the Pad.
        sides: number of elements at top, left, bottom and right.
        value: their value.
    """

    node: Node
    sides: Sides
    value: float


def one_of(node: Node, attribute: str, values: Sequence[int]) -> int:
    """Return the common value, 1 or more, of rows and columns.

    Raises:
        BadInput: the values differ, or are out of range.
    """
    if len(set(values)) != 1 or not 1 <= values[0] <= LARGEST:
        raise node.bad(attribute, list(values), "the same whole number from 1 for rows and columns")
    return values[0]


def pads_of(
    node: Node, size: Sequence[int], window: int, stride: int, padding: Padding | None = None
) -> list[int]:
    """Return the padding at top, left, bottom and right, including that of a Pad.

    With ``auto_pad``, it is calculated for maps of ``size``, after the Pad.

    Raises:
        BadInput: the padding is not allowed, or ``auto_pad`` is not known.
    """
    top, left, bottom, right = sides = padding.sides if padding else (0, 0, 0, 0)
    size = size[0] + top + bottom, size[1] + left + right
    own = _own_pads(node, size, window, stride)
    return [one + other for one, other in zip(own, sides, strict=True)]


def _own_pads(node: Node, size: Sequence[int], window: int, stride: int) -> list[int]:
    """Return the padding of the node itself."""
    pads = node.wholes("pads", (0, 0, 0, 0))
    automatic = node.text("auto_pad", "NOTSET")
    if automatic in ("NOTSET", ""):
        if not all(0 <= pad <= LARGEST for pad in pads):
            raise node.bad("pads", pads, f"whole numbers from 0 to {LARGEST:,}")
        return pads
    if automatic == "VALID":
        return [0, 0, 0, 0]
    if automatic not in ("SAME_UPPER", "SAME_LOWER"):
        raise node.bad("auto_pad", automatic, "NOTSET, VALID, SAME_UPPER or SAME_LOWER")
    first, last = [], []
    for elements in size:
        whole = max(0, (-(-elements // stride) - 1) * stride + window - elements)
        less, more = whole // 2, whole - whole // 2
        first.append(less if automatic == "SAME_UPPER" else more)
        last.append(more if automatic == "SAME_UPPER" else less)
    return first + last
