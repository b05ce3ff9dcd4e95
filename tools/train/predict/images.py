"""The images of a prediction: arrays, files of arrays, or a picture."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from merp.models.arithmetic.compiled import Values
from merp.models.base.byte_image import ByteImage
from merp.models.base.errors import BadInput
from merp.models.base.fixed import FixedFormat
from merp.models.base.given import given, name_of
from merp.models.network.network import Network
from merp.tools.common.given_numbers import check_numbers, given_array
from merp.tools.common.npz import read_npy, read_npz
from merp.tools.train.datasets.data import of_size
from merp.tools.train.predict.request import Predict

KEYS = ("input", "images", "x", "X")
"""Keys of images in an ``.npz`` file; the others are ignored."""


def images_of(given_images: Any, network: Network, asked: Predict) -> tuple[str, NDArray[Any]]:
    """Return the name of the images for messages, and (images, rows, columns, channels) numbers.

    Raises:
        BadInput: the file cannot be read, or the images have another type or size.
    """
    if not isinstance(given_images, str | PathLike):
        _check_no_picture(asked)
        return "x", _sized("x", given_array("x", given_images), network)
    path = Path(given_images)
    if path.suffix == ".npy":
        _check_no_picture(asked)
        return str(path), _sized(str(path), read_npy(path), network)
    if path.suffix == ".npz":
        _check_no_picture(asked)
        where, array = _of_npz(path)
        return where, _sized(where, array, network)
    return str(path), _picture(path, network, asked)


def _of_npz(path: Path) -> tuple[str, NDArray[np.generic]]:
    arrays = read_npz(path)
    for key in KEYS:
        if key in arrays:
            return f"{path}: {key}", arrays[key]
    found = ", ".join(sorted(arrays)) or "none"
    raise BadInput(f"{path}: keys {found}: allowed is one of {', '.join(KEYS)}")


def _sized(where: str, array: NDArray[np.generic], network: Network) -> NDArray[Any]:
    """Return images of the network's size, as for training; one image needs no axis of its own."""
    check_numbers(where, array)
    rows, columns, channels = network.input
    alone = [
        network.input,
        (channels, rows, columns),
        *([(rows, columns)] if channels == 1 else []),
    ]
    images = array[np.newaxis] if array.shape in alone else array
    if not images.size:
        raise BadInput(f"{where}: size {array.shape}: allowed is one image or more")
    return of_size(where, images, network)


def _picture(path: Path, network: Network, asked: Predict) -> Values:
    """Return a picture, cropped about its centre and resized; pixels are 0 to 1 before scaling."""
    from merp.tools.common.photograph import pixels  # imports Pillow only if needed

    rows, columns, channels = network.input
    found = pixels(path, rows, columns, channels).astype(np.float64)
    stored = None if isinstance(network.numbers, FixedFormat) else network.stored_input
    if isinstance(stored, ByteImage) and asked.mean is asked.std is None:
        return found * float(stored.scale) + float(stored.offset)
    mean = _per_channel("mean", asked.mean or (0.0,), channels)
    std = _per_channel("std", asked.std or (1.0,), channels)
    if not std.all():
        raise BadInput(f"{given('std', asked.std)}: allowed are numbers other than 0")
    return (found / 255.0 - mean) / std


def _per_channel(name: str, numbers: tuple[float, ...], channels: int) -> Values:
    if len(numbers) not in (1, channels):
        raise BadInput(
            f"{name_of(name)}: {len(numbers)} numbers: allowed are 1 or {channels}, one for each "
            "channel"
        )
    return np.array(numbers, np.float64)


def _check_no_picture(asked: Predict) -> None:
    for name in ("mean", "std"):
        if getattr(asked, name) is not None:
            raise BadInput(f"{name_of(name)}: allowed with a picture")
