"""Golden model of delta propagation of a convolution: from the delta of its sums to its input's
delta.

CNN-MERP section III.B: it is a convolution with the kernels rotated by 180 degrees. It is over
delta maps in a zero border of k-1-pad on each side. Input and output maps swap roles, so an engine
of forward propagation can compute it. With stride s, s-1 zeros are inserted between the deltas
(dilation), and the windows then move by one.

Inserted zeros are the element +0, like padding. Their products are signed zeros that count, or NaN
under an infinite kernel element. Hardware that spends no time on them must keep each tap's place in
the tree. It is equal for finite kernels only.
"""

from __future__ import annotations

import numpy as np

from merp.models.base.bits import Bits
from merp.models.base.formats import FloatFormat
from merp.models.base.shape import Shape
from merp.models.base.summation import TREE, Summation
from merp.models.golden.convolution import convolution, finished, from_maps, partial_sums
from merp.models.golden.inference import group_maps, group_parameters, own_maps
from merp.models.network.network import Layer


def swapped(kernels: Bits) -> Bits:
    """Return kernels (m, n, k, k) for delta propagation: (n, m, k, k), rotated by 180 degrees."""
    return np.ascontiguousarray(kernels.swapaxes(0, 1)[:, :, ::-1, ::-1])


def spread(delta: Bits, shape: Shape) -> Bits:
    """Return delta maps dilated by the stride, in a border of zeros, as the engine's windows see
    them.

    delta: (images, out_rows, out_columns, m). Returns (images, rows + k - 1, columns + k - 1, m).
    The number of windows equals the number of elements of the input map, including elements that no
    forward window reached.
    """
    images, rows, columns, m = delta.shape
    first_row, first_column = shape.k - 1 - shape.top, shape.k - 1 - shape.left
    size = (images, shape.rows + shape.k - 1, shape.columns + shape.k - 1, m)
    maps = np.zeros(size, np.uint32)
    maps[
        :,
        first_row : first_row + (rows - 1) * shape.stride + 1 : shape.stride,
        first_column : first_column + (columns - 1) * shape.stride + 1 : shape.stride,
    ] = delta
    return maps


def delta_convolution(
    delta: Bits,
    kernels: Bits,
    shape: Shape,
    fmt: FloatFormat,
    summation: Summation = TREE,
    start: Bits | None = None,
) -> Bits:
    """Propagate the delta of one group of a layer.

    Each output is a sum over the layer's output maps, ascending, from +0 or from ``start``. The k*k
    products of one window are summed as the CU's kind defines, with taps in the order of the
    rotated kernel.

    Args:
        delta: (images, out_rows, out_columns, m) words, of the sums before ReLU and pooling.
        kernels: (m, n, k, k) words, as forward propagation has them.
        shape: the layer's, as in forward propagation.
        fmt: number format.
        summation: arithmetic of the sum of a CU's products (``Design.summation``).
        start: (images, rows, columns, n) words, the part of the result that is already known, if
            any.

    Returns:
        (images, rows, columns, n) words: the delta of the layer's input.

    Raises:
        ValueError: an array does not have the shape's size, or the sum is fused and the format is
            not binary32.
    """
    sizes = {
        "delta": (delta.shape[1:], (shape.out_rows, shape.out_columns, shape.m)),
        "kernels": (kernels.shape, (shape.m, shape.n, shape.k, shape.k)),
    }
    if start is not None:
        sizes["start"] = start.shape, (len(delta), shape.rows, shape.columns, shape.n)
    for name, (found, wanted) in sizes.items():
        if found != wanted:
            raise ValueError(f"{name} must be of size {wanted}, not {found}")
    operands = spread(delta, shape), swapped(kernels)
    if start is None:
        return convolution(*operands, np.zeros(shape.n, np.uint32), 1, 0, fmt, summation)
    sums = partial_sums(*operands, from_maps(start, fmt, summation), 1, 0, fmt, summation)
    return finished(sums, fmt, summation)


def delta_layer(
    layer: Layer,
    delta: Bits,
    kernels: Bits,
    fmt: FloatFormat,
    summation: Summation = TREE,
    start: Bits | None = None,
) -> Bits:
    """Propagate the delta of all groups of a layer; the input maps of the groups follow each other.

    delta: (images, out_rows, out_columns, groups*m); kernels: (groups*m, n, k, k). start: like the
    result, (images, rows, columns, groups*n), if there is one.
    """
    zeros = np.zeros(layer.biases, np.uint32)
    groups = [
        delta_convolution(
            own_maps(delta, layer, group),
            group_parameters(layer, group, kernels, zeros)[0],
            layer.shape,
            fmt,
            summation,
            None if start is None else group_maps(start, layer, group),
        )
        for group in range(layer.groups)
    ]
    return np.concatenate(groups, axis=-1)
