"""A fully connected layer as a convolution over the maps that it takes."""

from __future__ import annotations

from dataclasses import replace

from merp.models.base.shape import Shape
from merp.models.machines.mac_array.params.design import MAX_WINDOW

Size = tuple[int, int, int]
"""Rows, columns and channels."""


def largest_window(max_kernel: int, reach: int) -> int:
    """Rows of the largest map that a fully connected layer takes as one kernel's window.

    Its deltas come from as many rows beyond a tile as the kernel has, but one: at most the array's
    ``reach``.
    """
    return min(max_kernel, reach + 1, MAX_WINDOW)


def as_window(shape: Shape, taken: Size, largest: int) -> Shape:
    """The shape as the array runs it, given the maps that the layer takes.

    Square ones of at most ``largest`` rows are the window of a kernel as large, and need not be
    flattened: the elements of its kernels are the same, in another order. A convolution stays.
    """
    rows, columns, channels = taken
    flattened = (shape.rows, shape.columns, shape.n) == (1, 1, rows * columns * channels)
    if not flattened or not rows == columns <= largest:
        return shape
    return replace(shape, n=channels, k=rows, rows=rows, columns=columns)
