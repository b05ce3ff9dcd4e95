"""Convert a fully connected layer to a convolution over its input maps."""

from __future__ import annotations

from dataclasses import replace

from merp.models.base.shape import Shape
from merp.models.machines.mac_array.params.design import MAX_WINDOW

Size = tuple[int, int, int]
"""Rows, columns and channels."""


def largest_window(max_kernel: int, reach: int) -> int:
    """Return the most rows of the input maps that a fully connected layer reads as one window.

    In DP, its windows extend beyond a tile by the rows of the kernel minus 1. This must not exceed
    the array's ``reach``.
    """
    return min(max_kernel, reach + 1, MAX_WINDOW)


def as_window(shape: Shape, taken: Size, largest: int) -> Shape:
    """Return the shape that the array runs, given the size of the layer's input.

    A fully connected layer whose input maps are square, with at most ``largest`` rows, becomes a
    convolution with a kernel of their size. Its maps need not be flattened. The elements of its
    kernels are the same, in another order. A convolution keeps its shape.
    """
    rows, columns, channels = taken
    flattened = (shape.rows, shape.columns, shape.n) == (1, 1, rows * columns * channels)
    if not flattened or not rows == columns <= largest:
        return shape
    return replace(shape, n=channels, k=rows, rows=rows, columns=columns)
