"""Golden model of the kernel update: gradients of kernels and biases, and the step that uses them.

CNN-MERP section III.B: the gradient of a kernel element is a sum over all positions. Each term is
the input element under the kernel element times the delta of the position. ``ku_kind`` defines the
order of the sum.
"""

from __future__ import annotations

from dataclasses import replace
from math import isqrt

import numpy as np

from merp.models.arithmetic.fp_add import fp_add
from merp.models.arithmetic.fp_convert import fp_convert
from merp.models.arithmetic.fp_mul import fp_mul
from merp.models.arithmetic.fused import pair_sums
from merp.models.arithmetic.lane_sums import Terms, offsets, worthwhile_sums
from merp.models.base.bits import Bits
from merp.models.base.folded_shape import folds
from merp.models.base.formats import BINARY32, FloatFormat
from merp.models.base.rates import Rates
from merp.models.base.shape import Shape
from merp.models.base.summation import TREE, StreamSummation, Summation
from merp.models.golden.convolution import convolution
from merp.models.golden.inference import group_maps, own_maps
from merp.models.golden.stream_update import stream_gradients
from merp.models.golden.window import windows
from merp.models.network.network import Layer

_CHUNK = 1 << 24  # window words copied at a time: all windows of a batch would not fit memory


def _at_once(
    x: Bits, delta: Bits, shape: Shape, fmt: FloatFormat, summation: Summation
) -> Bits | None:
    """Compute either kind with ``lane_sums``, if it has a result; an output is a kernel element."""
    k, m = shape.k, shape.m
    around = (shape.top, shape.bottom), (shape.left, shape.right)
    padded = np.pad(x, ((0, 0), *around, (0, 0)))
    _, height, width, n = padded.shape
    strides = height * width * n, shape.stride * width * n, shape.stride * n
    positions = offsets(delta.shape[:3], strides)
    by_row = summation.ku_kind == "row"
    taps = shape.out_columns if by_row else 1
    terms = Terms(
        words=np.ascontiguousarray(padded, np.uint32).reshape(-1),
        rows=positions.reshape(-1, taps),
        lanes=offsets((k, k, n), (width * n, n, 1)),
        weights=np.ascontiguousarray(delta.reshape(-1, taps, m).swapaxes(1, 2), np.uint32),
        start=np.zeros(m, np.uint32),
    )
    sums = worthwhile_sums(terms, fmt, summation if by_row else TREE)
    if sums is None:
        return None
    return np.ascontiguousarray(sums.reshape(k, k, shape.n, m).transpose(3, 2, 0, 1))


def _by_position(x: Bits, delta: Bits, shape: Shape, fmt: FloatFormat) -> Bits:
    """Sum as ``ku_kind = "position"``: RN(x*delta), added one by one over image, row, column.

    This is a convolution with 1 x 1 kernels whose input maps are the positions. Element (i, row,
    column) of the kernels takes the place of (image, row, column), and delta takes the place of the
    kernels.
    """
    view = windows(x, shape).transpose(3, 4, 5, 0, 1, 2)  # (n, k, k, positions)
    factors = np.ascontiguousarray(delta.reshape(-1, shape.m).T).reshape(shape.m, -1, 1, 1)
    zeros = np.zeros(shape.m, np.uint32)
    step = max(1, _CHUNK // (shape.k * shape.k * factors.shape[1]))
    parts = []
    for low in range(0, shape.n, step):
        taps = np.ascontiguousarray(view[low : low + step])
        taps = taps.reshape(len(taps), shape.k, shape.k, -1)
        parts.append(convolution(taps, factors, zeros, 1, 0, fmt))
    return np.ascontiguousarray(np.concatenate(parts).transpose(3, 0, 1, 2))


def _by_row(x: Bits, delta: Bits, shape: Shape, summation: Summation) -> Bits:
    """Sum as ``ku_kind = "row"``: fused over columns, then added one by one over image, row.

    Both sums are in the accumulator's format. A finished gradient is rounded once more, to
    binary32. See ``docs/blocks/cnn_merp/gradient_array/row_array.md``. Only binary32 is possible,
    because fused sums need it.
    """
    fmt = summation.accumulator_format(BINARY32)
    view = windows(x, shape).transpose(0, 1, 3, 4, 5, 2)  # (images, rows, n, k, k, columns)
    columns = shape.out_columns
    total = np.zeros((shape.m, shape.n * shape.k**2), np.uint32)
    for image, row in np.ndindex(delta.shape[:2]):
        taps = view[image, row].reshape(-1, columns)
        total = fp_add(total, pair_sums(taps, delta[image, row].T, summation), fmt)
    return fp_convert(total, fmt, BINARY32).reshape(shape.m, shape.n, shape.k, shape.k)


def _images_side_by_side(
    x: Bits, delta: Bits, shape: Shape, columns: int
) -> tuple[Bits, Bits, Shape]:
    """Arrange a folded layer in rows: ``columns`` images are the columns of a row, in their order.

    The first row has the remaining images, and zeros, whose products are no terms of a fused sum.
    """
    columns = min(len(x), columns)
    short = -len(x) % columns
    x, delta = (np.pad(each, ((short, 0), (0, 0), (0, 0), (0, 0))) for each in (x, delta))
    return (
        x.reshape(-1, 1, columns, shape.n),
        delta.reshape(-1, 1, columns, shape.m),
        replace(shape, columns=columns, stride=1, relu=False, pool=None),
    )


def kernel_gradient(
    x: Bits, delta: Bits, shape: Shape, fmt: FloatFormat, summation: Summation = TREE
) -> Bits:
    """Compute the gradient of one group's kernels, summed over the batch.

    Args:
        x: (images, rows, columns, n) words, the input of forward propagation.
        delta: (images, out_rows, out_columns, m) words, of the sums before ReLU and pooling.
        shape: the layer's.
        fmt: number format.
        summation: arithmetic of the sums; only ``ku_kind`` is used, and, for a folded layer by row,
            ``ku_images``.

    Returns:
        (m, n, k, k) words.

    Raises:
        ValueError: an array does not have the shape's size.
    """
    sizes = {
        "maps": (x.shape[1:], (shape.rows, shape.columns, shape.n)),
        "delta": (delta.shape, (len(x), shape.out_rows, shape.out_columns, shape.m)),
    }
    for name, (found, wanted) in sizes.items():
        if found != wanted:
            raise ValueError(f"{name} must be of size {wanted}, not {found}")
    if folds(shape, isqrt(summation.taps)) and summation.ku_kind == "row":
        x, delta, shape = _images_side_by_side(x, delta, shape, summation.ku_images)
    at_once = _at_once(x, delta, shape, fmt, summation)
    if at_once is not None:
        return at_once
    if summation.ku_kind == "row":
        return _by_row(x, delta, shape, summation)
    return _by_position(x, delta, shape, fmt)


def bias_gradient(delta: Bits, fmt: FloatFormat) -> Bits:
    """Compute the gradient of biases: delta (images, rows, columns, m) words give (m,) words.

    It is the sum from +0 over image, row, column: a bias is a kernel element whose input is always
    one.
    """
    m = delta.shape[-1]
    positions = delta[..., 0].size
    terms = Terms(
        words=np.ascontiguousarray(delta, np.uint32).reshape(-1),
        rows=np.arange(0, positions * m, m).reshape(-1, 1),
        lanes=np.arange(m),
        weights=np.full((positions, 1, 1), fmt.one, np.uint32),
        start=np.zeros(1, np.uint32),
    )
    sums = worthwhile_sums(terms, fmt, TREE)
    if sums is not None:
        return sums.reshape(m)
    ones = np.full((1, 1, 1, positions), fmt.one, np.uint32)
    factors = np.ascontiguousarray(delta.reshape(-1, m).T).reshape(m, positions, 1, 1)
    return convolution(ones, factors, np.zeros(m, np.uint32), 1, 0, fmt).reshape(m)


def gradients(
    layer: Layer, x: Bits, delta: Bits, fmt: FloatFormat, summation: Summation = TREE
) -> tuple[Bits, Bits]:
    """Compute the gradients of a layer: kernels (groups*m, n, k, k) and biases (groups*m,).

    x: (images, rows, columns, groups*n); delta: (images, out_rows, out_columns, groups*m).
    """
    m = layer.shape.m
    if isinstance(summation, StreamSummation):
        return _streamed(layer, x, delta, fmt, summation)
    kernels = [
        kernel_gradient(
            group_maps(x, layer, group),
            delta[..., group * m : (group + 1) * m],
            layer.shape,
            fmt,
            summation,
        )
        for group in range(layer.groups)
    ]
    return np.concatenate(kernels), bias_gradient(delta, fmt)


def _streamed(
    layer: Layer, x: Bits, delta: Bits, fmt: FloatFormat, summation: StreamSummation
) -> tuple[Bits, Bits]:
    """Compute the gradients of a layer in the order of streaming modules."""
    pairs = [
        stream_gradients(
            group_maps(x, layer, group), own_maps(delta, layer, group), layer.shape, fmt, summation
        )
        for group in range(layer.groups)
    ]
    kernels, biases = zip(*pairs, strict=True)
    return np.concatenate(kernels), np.concatenate(biases)


def update(
    parameter: Bits, velocity: Bits, gradient: Bits, rates: Rates, fmt: FloatFormat
) -> tuple[Bits, Bits]:
    """Compute stochastic gradient descent: new parameters and velocities, of any equal shapes.

    d = RN(gradient + RN(decay*w)), v = RN(RN(momentum*v) + d), w = RN(w - RN(rate*v)). Without
    momentum no velocity is kept: the caller passes +0 each time. Without weight decay d is the
    unchanged gradient: nothing is added, not even +0.

    This is PyTorch's SGD: g = g + wd*w; v = mu*v + g; w = w - lr*v. The penalty is coupled with the
    gradient, and all parameters decay, including biases.

    AlexNet's rule is v = mu*v - wd*lr*w - lr*g; w = w + v (Krizhevsky et al. 2012, section 5). With
    a constant learning rate it is the same rule; its velocities contain the factor -lr.
    """
    if rates.rule.weight_decay:
        gradient = fp_add(gradient, fp_mul(rates.weight_decay, parameter, fmt), fmt)
    velocity = fp_add(fp_mul(rates.momentum, velocity, fmt), gradient, fmt)
    step = fp_mul(rates.rate, velocity, fmt) ^ np.uint32(fmt.sign_bit)
    return fp_add(parameter, step, fmt), velocity
