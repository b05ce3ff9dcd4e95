"""Read a user's input maps: an ``.npz`` with the array ``input``."""

from __future__ import annotations

from pathlib import Path

from merp.models.base.errors import BadInput
from merp.models.network.network import Network
from merp.tools.common.npz import read_npz
from merp.tools.simulate.simulated import Simulated, Words

KEY = "input"


def read_maps(path: Path, images: int | None, network: Network, machine: Simulated) -> Words:
    """Return the maps of a file's first ``images`` images, or of all, as words.

    Their size is (images, rows, columns, channels). The array ``input`` of the same size holds
    floating-point numbers, which are rounded to the network's format. If the machine allows it, it
    may also hold words of this format.

    Raises:
        BadInput: an unreadable file, another key, another size, fewer images, or the machine
            refuses the type or a number.
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
        raise BadInput(f"--images {images}: {path} has {len(array)}: allowed: 1 to {len(array)}")
    return machine.words_of(where, array[:images], network)
