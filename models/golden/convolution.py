"""Golden model of convolution: every output in the exact order of additions of the hardware.

CNN-MERP section V. An output starts at its bias. For each input map in turn, the k*k products of
one window are summed as the CU's kind defines. The result is added to the output. Padding taps are
the element +0. Their products are signed zeros (or NaN under an infinite kernel element), and are
never omitted.

A fully connected layer on k x k units is folded: k*k elements form a window, and the last window is
filled up. A smaller kernel on such units has +0 for the taps that it lacks, below and on the right.
The products of these taps count like those of the padding.

Input maps can be processed in parts, ascending. The sums of all but the last part stay in the
accumulator's format, and the next part starts at them. Sums can also start at maps that are added
to them (a residual connection), each plus its bias.
"""

from __future__ import annotations

from math import isqrt

import numpy as np

from merp.models.arithmetic import compiled, fused
from merp.models.arithmetic.fp_add import fp_add
from merp.models.arithmetic.fp_convert import fp_convert
from merp.models.arithmetic.lane_sums import Terms, offsets, worthwhile_sums
from merp.models.arithmetic.words import element_limits
from merp.models.base.bits import Bits
from merp.models.base.formats import BINARY32, FloatFormat
from merp.models.base.shape import Padding, sides
from merp.models.base.summation import TREE, Summation


def convolution(
    x: Bits,
    kernels: Bits,
    bias: Bits,
    stride: int,
    pad: Padding,
    fmt: FloatFormat,
    summation: Summation = TREE,
) -> Bits:
    """Convolve maps (cross-correlation, as in every convolution layer).

    Args:
        x: (images, rows, columns, n) words.
        kernels: (m, n, k, k) words.
        bias: (m,) words.
        stride: rows and columns between windows.
        pad: rows and columns of zeros on all four sides, or (top, left, bottom, right).
        fmt: number format.
        summation: arithmetic of the sum of the k*k products (``Design.summation``).

    Returns:
        (images, out_rows, out_columns, m) words.

    Raises:
        ValueError: the shapes do not match, or the sum is fused and the format is not binary32.
    """
    padded, kernels, size = _padded(x, kernels, stride, pad, summation)
    if bias.shape != kernels.shape[:1]:
        raise ValueError(f"kernels {kernels.shape} and biases {bias.shape} do not fit")
    sums = worthwhile_sums(_terms(padded, kernels, bias, stride, size), fmt, summation)
    if sums is not None:
        in_order = sums.reshape(*size, len(x), len(bias)).transpose(2, 0, 1, 3)
        return np.ascontiguousarray(in_order)
    start = from_biases(bias, fmt, summation)
    return finished(_sums(padded, kernels, start, stride, size, fmt, summation), fmt, summation)


def from_biases(bias: Bits, fmt: FloatFormat, summation: Summation) -> Bits:
    """Return the start of the sums of the first part of the input maps: (m,) biases as sums."""
    wide = summation.accumulator_format(fmt)
    return bias if wide == fmt else fp_convert(bias, fmt, wide)


def from_maps(maps: Bits, fmt: FloatFormat, summation: Summation, bias: Bits | None = None) -> Bits:
    """Return the start of sums to which maps are added: the maps, plus the biases if there are any.

    maps: (images, out_rows, out_columns, m) words; bias: (m,). Returns words of the accumulator's
    format, rounded once.
    """
    wide = summation.accumulator_format(fmt)
    start = maps if wide == fmt else fp_convert(maps, fmt, wide)
    return start if bias is None else fp_add(start, from_biases(bias, fmt, summation), wide)


def finished(sums: Bits, fmt: FloatFormat, summation: Summation) -> Bits:
    """Convert sums of any shape to elements, after every input map has been added."""
    wide = summation.accumulator_format(fmt)
    return sums if wide == fmt else fp_convert(sums, wide, fmt)


def partial_sums(
    x: Bits,
    kernels: Bits,
    start: Bits,
    stride: int,
    pad: Padding,
    fmt: FloatFormat,
    summation: Summation = TREE,
) -> Bits:
    """Add a part of the input maps to sums.

    Args:
        x: (images, rows, columns, n) words of these input maps.
        kernels: (m, n, k, k), the kernels of these input maps.
        start: (m,) or (images, out_rows, out_columns, m) words in the accumulator's format.
        stride, pad, fmt, summation: as in ``convolution``.

    Returns:
        (images, out_rows, out_columns, m) words in the accumulator's format.

    Raises:
        ValueError: as in ``convolution``.
    """
    padded, kernels, size = _padded(x, kernels, stride, pad, summation)
    m = len(kernels)
    if start.shape not in ((m,), (len(x), *size, m)):
        raise ValueError(f"kernels {kernels.shape} and sums {start.shape} do not fit")
    return _sums(padded, kernels, start, stride, size, fmt, summation)


def _padded(
    x: Bits, kernels: Bits, stride: int, pad: Padding, summation: Summation
) -> tuple[Bits, Bits, tuple[int, int]]:
    """Return the maps in their border of zeros, the kernels, and the output's rows and columns.

    Maps and kernels of single elements are folded to the taps of the units. Smaller kernels are
    filled up with zeros for the taps that they lack, and maps with as many zeros.
    """
    taps = summation.taps
    if taps > 1 and x.shape[1:3] == kernels.shape[2:] == (1, 1) and x.shape[3] == kernels.shape[1]:
        x, kernels = _folded(x, taps).transpose(0, 2, 3, 1), _folded(kernels, taps)
    images, rows, columns, n = x.shape
    _, kernel_n, size, kernel_columns = kernels.shape
    k = max(size, isqrt(taps))
    top, left, bottom, right = sides(pad)
    lacking = k - size
    kernels = np.pad(kernels, ((0, 0), (0, 0), (0, lacking), (0, lacking)))
    bottom, right = bottom + lacking, right + lacking
    height, width = top + rows + bottom, left + columns + right
    out_rows, out_columns = ((side - k) // stride + 1 for side in (height, width))
    if (kernel_n, kernel_columns) != (n, size) or out_rows < 1 or out_columns < 1:
        raise ValueError(f"maps {x.shape} and kernels {kernels.shape} do not fit")
    padded = np.zeros((height, width, n, images), np.uint32).transpose(3, 0, 1, 2)  # as `_terms`
    padded[:, top : top + rows, left : left + columns] = x
    return padded, kernels, (out_rows, out_columns)


def _sums(
    padded: Bits,
    kernels: Bits,
    start: Bits,
    stride: int,
    size: tuple[int, int],
    fmt: FloatFormat,
    summation: Summation,
) -> Bits:
    """Sum by the definition, in the accumulator's format; ``start`` as in ``partial_sums``."""
    if summation.kind == "fused" and fmt != BINARY32:
        raise ValueError("cu_kind fused is for binary32 only")
    kind = start.dtype if start.dtype == np.uint64 else np.uint32
    arguments = (
        np.ascontiguousarray(padded),
        np.ascontiguousarray(kernels, np.uint32),
        np.ascontiguousarray(start.reshape(-1, len(kernels)), kind),
        stride,
        size,
    )
    if summation.kind == "fused":
        return fused.convolve(*arguments, summation)
    return compiled.convolve(*arguments, element_limits(fmt))


def _folded(words: Bits, taps: int) -> Bits:
    """Fold maps or kernels of single elements: ``taps`` elements become one map or kernel of k x k.

    words: of any shape, with images or output maps as the first axis. The last map is filled up
    with zeros. Returns (images or output maps, ceil(elements / taps), k, k).
    """
    flat = words.reshape(len(words), -1)
    k = isqrt(taps)
    filled = np.pad(flat, ((0, 0), (0, -flat.shape[1] % taps)))
    return filled.reshape(len(words), -1, k, k)


def _terms(padded: Bits, kernels: Bits, bias: Bits, stride: int, size: tuple[int, int]) -> Terms:
    """Return the locations of the factors: the elements of the images are adjacent, so lanes are
    images.

    Outputs are in the order row, column, image; a group is an input map.
    """
    images, _, columns, n = padded.shape
    m, _, k, _ = kernels.shape
    places = offsets((k, k), (columns * n * images, n * images))
    return Terms(
        words=np.ascontiguousarray(padded.transpose(1, 2, 3, 0)).reshape(-1),
        rows=np.arange(n)[:, np.newaxis] * images + places,
        lanes=offsets((*size, images), (stride * columns * n * images, stride * n * images, 1)),
        weights=np.ascontiguousarray(kernels.reshape(m, n, k * k).swapaxes(0, 1), np.uint32),
        start=np.ascontiguousarray(bias, np.uint32),
    )
