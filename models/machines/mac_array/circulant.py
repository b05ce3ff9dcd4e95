"""The circulant order of kernel elements: one stored copy is read by rows and by columns.

source: the RTL compiler's paper, section III.D
P is the number of lanes, a power of two. Output maps f and input maps i are split into tiles of P.
Element (i, f, k) is stored in buffer (i + f) mod P.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Words = npt.NDArray[np.int64]


def parameter_beats(kernels: Words, lanes: int, padding: Words) -> Words:
    """Arrange kernels as the beats of the kernel port, which are also the buffers' content.

    Args:
        kernels: (output maps, input maps, taps).
        lanes: P.
        padding: (tiles * P - output maps, input maps, taps): words of the lanes without an output
            map. No result may depend on them.

    Returns:
        (tiles * input maps * taps, P): tile of output maps, input map, tap ascending. Word b
        belongs to buffer b.

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
    """Return the elements of input map i and the P output maps of a tile, as the lanes read in FP.

    Returns:
        (taps, P).
    """
    lanes = beats.shape[1]
    addresses = (tile * inputs + i) * taps + np.arange(taps)
    return beats[addresses[:, None], (np.arange(lanes) + i) % lanes]


def column(beats: Words, inputs: int, taps: int, f: int, tile: int) -> Words:
    """Return the elements of output map f and the input maps of a tile, as the lanes read in DP.

    The order is that of window positions. The window is rotated by 180 degrees.

    Returns:
        (taps, input maps of the tile).
    """
    lanes = beats.shape[1]
    rows = np.arange(min(lanes, inputs - tile * lanes))
    first = (f // lanes * inputs + tile * lanes) * taps
    addresses = first + rows * taps + np.arange(taps)[::-1, None]
    return beats[addresses, (rows + f) % lanes]
