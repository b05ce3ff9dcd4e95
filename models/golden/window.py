"""Golden model of the window register, from the definition of convolution alone."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from merp.models.base.shape import Shape


def windows(x: NDArray[np.uint32], shape: Shape) -> NDArray[np.uint32]:
    """Return every window of every input map.

    Args:
        x: raw bits, (images, rows, columns, n).
        shape: the layer; only its kernel size, stride and padding are used.

    Returns:
        raw bits, (images, out_rows, out_columns, n, k, k); +0 in the padding.
    """
    around = (shape.top, shape.bottom), (shape.left, shape.right)
    padded = np.pad(x, ((0, 0), *around, (0, 0)))
    view = np.lib.stride_tricks.sliding_window_view(padded, (shape.k, shape.k), axis=(1, 2))
    return view[:, :: shape.stride, :: shape.stride]
