"""Golden model of the gradients of a streaming module: kernel update of kind ``stream``.

The maps of F-CNN stream through kernels of k x k multipliers, in beats of G images. Each lane of
a beat has its own multipliers and accumulators. An adder of several cycles serves A accumulators in
turn, so that one beat per cycle is possible. The order of additions is ours, because the paper does
not define it:

- Lane g takes the images ``b*G + g``, one in each beat b of a column.
- The beats of a lane follow row, column, then beat of the column. Only centres with a delta count.
- Product c of a lane, rounded, is added to accumulator ``c mod A``, which starts at +0.
- The tree of ``fp_tree`` adds the A*G sums. Accumulator a of lane g is its term ``g*A + a``.

A tap outside the map is +0, and its product is a term like any other. A bias is a kernel element
whose input is always one. Its product is the delta itself.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from merp.models.arithmetic.fp_tree import fp_tree
from merp.models.arithmetic.lane_sums import Terms, offsets, worthwhile_sums
from merp.models.base.bits import Bits
from merp.models.base.formats import FloatFormat
from merp.models.base.shape import Shape
from merp.models.base.summation import TREE, StreamSummation
from merp.models.golden.convolution import convolution

_CHUNK = 1 << 22  # window words copied at a time

Places = NDArray[np.int64]


def _positions(size: tuple[int, int, int], order: StreamSummation) -> list[Places]:
    """Return the centres that each accumulator adds, in the order of additions.

    size: images, rows and columns of the deltas. A centre is a place in deltas of this size. The
    list is in the order of the terms of the tree.

    Raises:
        ValueError: the lanes do not divide the images.
    """
    images, rows, columns = size
    if images % order.lanes:
        raise ValueError(f"images must be a multiple of {order.lanes} lanes, not {images}")
    places = np.arange(images * rows * columns).reshape(-1, order.lanes, rows, columns)
    in_order = places.transpose(1, 2, 3, 0).reshape(order.lanes, -1)
    return [
        each[first :: order.accumulators]
        for each in in_order
        for first in range(order.accumulators)
    ]


def stream_gradients(
    x: Bits, delta: Bits, shape: Shape, fmt: FloatFormat, order: StreamSummation
) -> tuple[Bits, Bits]:
    """Compute the gradients of one group's kernels and biases, summed over the images.

    Args:
        x: (images, rows, columns, n) words, the input of forward propagation.
        delta: (images, out_rows, out_columns, m) words, of the sums before ReLU and pooling.
        shape: the layer's.
        fmt: number format.
        order: lanes and accumulators.

    Returns:
        (m, n, k, k) words of the kernels, and (m,) words of the biases.

    Raises:
        ValueError: an array does not have the shape's size, or the lanes do not divide the images.
    """
    sizes = {
        "maps": (x.shape[1:], (shape.rows, shape.columns, shape.n)),
        "delta": (delta.shape, (len(x), shape.out_rows, shape.out_columns, shape.m)),
    }
    for name, (found, wanted) in sizes.items():
        if found != wanted:
            raise ValueError(f"{name} must be of size {wanted}, not {found}")
    places = _positions(delta.shape[:3], order)
    around = (shape.top, shape.bottom), (shape.left, shape.right)
    padded = np.pad(x, ((0, 0), *around, (0, 0))).astype(np.uint32)
    _, height, width, n = padded.shape
    strides = height * width * n, shape.stride * width * n, shape.stride * n
    centres = offsets(delta.shape[:3], strides).reshape(-1)
    taps = offsets((shape.k, shape.k, n), (width * n, n, 1)).reshape(-1)
    words, deltas = padded.reshape(-1), delta.reshape(-1, shape.m).astype(np.uint32)
    kernels = _added([_sums(words, centres[each], taps, deltas[each], fmt) for each in places], fmt)
    one = np.array([fmt.one], np.uint32)
    nowhere = np.zeros(len(deltas), int)
    biases = _added(
        [_sums(one, nowhere[each], nowhere[:1], deltas[each], fmt) for each in places], fmt
    )
    return (
        np.ascontiguousarray(kernels.reshape(shape.k, shape.k, n, shape.m).transpose(3, 2, 0, 1)),
        biases.reshape(shape.m),
    )


def _added(sums: list[Bits], fmt: FloatFormat) -> Bits:
    """Add the accumulators: a list of equal shapes gives one array of this shape."""
    return fp_tree(np.stack(sums, axis=-1), fmt)


def _sums(words: Bits, centres: Places, taps: Places, deltas: Bits, fmt: FloatFormat) -> Bits:
    """Sum products one after the other from +0: (elements, m) words.

    The input of a product is the word at the place of its centre plus that of its tap.

    Args:
        words: inputs.
        centres: (terms,) places.
        taps: (elements,) places.
        deltas: (terms, m) words.
        fmt: number format.
    """
    m = deltas.shape[1]
    if not len(centres):
        return np.zeros((len(taps), m), np.uint32)
    terms = Terms(
        words=words,
        rows=centres.reshape(-1, 1),
        lanes=taps,
        weights=np.ascontiguousarray(deltas[:, :, np.newaxis]),
        start=np.zeros(m, np.uint32),
    )
    sums = worthwhile_sums(terms, fmt, TREE)
    if sums is not None:
        return sums.reshape(len(taps), m)
    # As a convolution whose input maps are the terms, with kernels of one element.
    factors = np.ascontiguousarray(deltas.T).reshape(m, -1, 1, 1)
    step = max(1, _CHUNK // len(centres))
    parts = [
        convolution(
            words[taps[low : low + step, np.newaxis] + centres][:, np.newaxis, np.newaxis],
            factors, np.zeros(m, np.uint32), 1, 0, fmt,
        ).reshape(-1, m)
        for low in range(0, len(taps), step)
    ]  # fmt: skip
    return np.concatenate(parts)
