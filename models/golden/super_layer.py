"""Golden model of the super layer: convolution, ReLU and pooling in one (CNN-MERP section IV.F)."""

from __future__ import annotations

from merp.models.arithmetic.relu import leaky_relu, relu, relu6
from merp.models.arithmetic.tanh import tanh
from merp.models.base.bits import Bits
from merp.models.base.formats import FloatFormat
from merp.models.base.shape import Shape
from merp.models.base.summation import TREE, Summation
from merp.models.golden.convolution import convolution, finished, from_maps, partial_sums
from merp.models.golden.pooling import pool_maps


def super_layer(
    x: Bits,
    kernels: Bits,
    bias: Bits,
    shape: Shape,
    fmt: FloatFormat,
    summation: Summation = TREE,
    add: Bits | None = None,
) -> Bits:
    """Run one group of a layer.

    Args:
        x: (images, rows, columns, n) words.
        kernels: (m, n, k, k) words.
        bias: (m,) words.
        shape: sizes, ReLU and pooling.
        fmt: number format.
        summation: arithmetic of the sum of a CU's products.
        add: (images, out_rows, out_columns, m) words that are added to the sums, if there are any.

    Returns:
        (images, pooled_rows, pooled_columns, m) words.

    Raises:
        ValueError: an array does not have the shape's size.
    """
    sizes = {
        "maps": (x.shape[1:], (shape.rows, shape.columns, shape.n)),
        "kernels": (kernels.shape, (shape.m, shape.n, shape.k, shape.k)),
        "bias": (bias.shape, (shape.m,)),
    }
    if add is not None:
        sizes["add"] = add.shape, (len(x), shape.out_rows, shape.out_columns, shape.m)
    for name, (found, wanted) in sizes.items():
        if found != wanted:
            raise ValueError(f"{name} must be of size {wanted}, not {found}")
    if add is None:
        y = convolution(x, kernels, bias, shape.stride, shape.pad, fmt, summation)
    else:
        start = from_maps(add, fmt, summation, bias)
        sums = partial_sums(x, kernels, start, shape.stride, shape.pad, fmt, summation)
        y = finished(sums, fmt, summation)
    return pooled(activated(y, shape, fmt), shape, fmt)


def pooled(sums: Bits, shape: Shape, fmt: FloatFormat) -> Bits:
    """Return the output of a layer: its sums after ReLU, pooled, and then tanh of them, if any."""
    maxima = pool_maps(sums, shape.pool, fmt)
    return tanh(maxima, fmt) if shape.tanh else maxima


def activated(sums: Bits, shape: Shape, fmt: FloatFormat) -> Bits:
    """Return finished sums, words of any size, after the ReLU of ``shape``, if any: plain, leaky,
    or ReLU6.
    """
    if not shape.relu:
        return sums
    if shape.slope:
        return leaky_relu(sums, shape.slope, fmt)
    return relu6(sums, fmt) if shape.relu6 else relu(sums, fmt)
