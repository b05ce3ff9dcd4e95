"""A user's input maps: an ``.npz`` with the array ``input``."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from merp.models.errors import BadInput
from merp.models.network.network import Network
from merp.models.params.bits import Bits
from merp.tools.common.finite_words import finite_words
from merp.tools.common.npz import read_npz

KEY = "input"


def read_maps(path: Path, images: int | None, network: Network) -> Bits:
    """Maps of a file's first ``images`` images, or of all: (images, rows, columns, channels) words.

    Its one array, ``input``, is (images, rows, columns, channels): floating-point numbers, which
    are rounded into the network's format, or ``uint32`` words of that format, taken as they are.

    Raises:
        BadInput: unreadable file, another key, another size or type, fewer images, a number that
            the format does not hold, or a word that is wider than the format.
    """
    arrays = read_npz(path)
    if set(arrays) != {KEY}:
        found = ", ".join(sorted(arrays)) or "none"
        raise BadInput(f"{path}: keys {found}: allowed is {KEY}")
    array, where = arrays[KEY], f"{path}: {KEY}"
    if array.ndim != 4 or array.shape[1:] != network.input or not len(array):
        size = ", ".join(map(str, network.input))
        raise BadInput(
            f"{where}: size {array.shape}: {network.name} takes (images, {size}), "
            "of one image or more"
        )
    if images is not None and images > len(array):
        raise BadInput(f"--images {images}: {path} has {len(array)}: allowed are so many or fewer")
    maps = array[:images]
    if maps.dtype.kind == "f" and maps.dtype.itemsize <= 8:
        return finite_words(where, maps.astype(np.float64), network.fmt)
    if maps.dtype.kind != "u" or maps.dtype.itemsize != 4:
        raise BadInput(
            f"{where}: type {maps.dtype}: allowed are float16, float32, float64 (numbers) and "
            "uint32 (words)"
        )
    words = np.ascontiguousarray(maps, np.uint32)
    wide = np.argwhere(words >> np.uint64(network.fmt.width))
    if wide.size:
        place = tuple(int(index) for index in wide[0])
        raise BadInput(
            f"{where}[{', '.join(map(str, place))}] = {int(words[place]):#x}: allowed are words "
            f"of {network.fmt.width} bits"
        )
    return words
