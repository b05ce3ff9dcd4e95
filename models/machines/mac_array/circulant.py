"""The circulant order of kernel elements: one copy that is read by rows and by columns.

The RTL compiler's paper, section III.D. P is the number of lanes, a power of two; output maps f and
input maps i are in tiles of P. Element (i, f, k) stands in buffer (i + f) mod P.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Words = npt.NDArray[np.int64]


def parameter_beats(kernels: Words, lanes: int, padding: Words) -> Words:
    """Kernels as the beats that the kernel port carries, which is the buffer's content.

    Args:
        kernels: (output maps, input maps, taps).
        padding: (tiles * P - output maps, input maps, taps), what the lanes hold that have no
            output map; nothing may depend on it.

    Returns:
        (tiles * input maps * taps, P): tile of output maps, input map, tap ascending; word b is
        that of buffer b.

    Raises:
        ValueError: padding does not fill the last tile.
    """
    outputs, inputs, taps = kernels.shape
    tiles = -(-outputs // lanes)
    if padding.shape != (tiles * lanes - outputs, inputs, taps):
        raise ValueError(f"padding must fill {tiles} tiles of {lanes} lanes")
    whole = np.concatenate((kernels, padding)).reshape(tiles, lanes, inputs, taps)
    beats = np.empty((tiles, inputs, taps, lanes), dtype=np.int64)
    for i in range(inputs):
        for c in range(lanes):
            beats[:, i, :, (i + c) % lanes] = whole[:, c, i]
    return beats.reshape(-1, lanes)


def row(beats: Words, inputs: int, taps: int, tile: int, i: int) -> Words:
    """Elements of input map i and the P output maps of a tile, tap by tap: what FP's lanes get.

    Returns:
        (taps, P).
    """
    lanes = beats.shape[1]
    addresses = (tile * inputs + i) * taps + np.arange(taps)
    return beats[addresses[:, None], (np.arange(lanes) + i) % lanes]


def column(beats: Words, inputs: int, taps: int, f: int, tile: int) -> Words:
    """Elements of output map f and the input maps of a tile, by window position: what DP's get.

    The window is turned by 180 degrees.

    Returns:
        (taps, input maps of the tile).
    """
    lanes = beats.shape[1]
    rows = np.arange(min(lanes, inputs - tile * lanes))
    first = (f // lanes * inputs + tile * lanes) * taps
    addresses = first + rows * taps + np.arange(taps)[::-1, None]
    return beats[addresses, (rows + f) % lanes]
