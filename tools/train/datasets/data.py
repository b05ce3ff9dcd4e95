"""Labelled images: their arrays as they were given, and checks of types and sizes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from merp.models.arithmetic.compiled import Values
from merp.models.base.errors import BadInput
from merp.models.base.notice import notice
from merp.models.golden.loss import Labels
from merp.models.network.network import Network
from merp.tools.common.given_numbers import check_numbers, given_numbers, whole_numbers

KEYS = ("images", "labels")
WHITE = 255
"""The byte of a white pixel."""


@dataclass(frozen=True, eq=False)
class Data:
    """Labelled images. The array of the images keeps its type, because bytes take an eighth.

    Attributes:
        source: their name in messages.
        images: (count, ...) numbers; (count, rows, columns, channels) after ``fitted``.
        labels: (count,) classes from 0.
        keys: names of the images and labels in messages.
        divisor: the numbers are ``images`` divided by it.
        classes: names of the classes, if they are folders.
        held: further images of the same source, for validation.
    """

    source: str
    images: NDArray[Any]
    labels: Labels
    keys: tuple[str, str] = KEYS
    divisor: int = 1
    classes: tuple[str, ...] = ()
    held: Data | None = None

    @property
    def where(self) -> str:
        """Start of a message about the images."""
        return f"{self.source}: {self.keys[0]}"

    def part(self, chosen: slice | NDArray[np.int64]) -> NDArray[Any]:
        """Return the numbers of some images; whole numbers are whole if nothing divides them."""
        found = self.images[chosen]
        return found if self.divisor == 1 else found / self.divisor

    def numbers(self, chosen: slice | NDArray[np.int64]) -> Values:
        """Return the numbers of some images in binary64."""
        return given_numbers(self.where, self.part(chosen))


def checked(
    source: str,
    images: NDArray[np.generic],
    labels: NDArray[np.generic],
    keys: tuple[str, str] = KEYS,
) -> Data:
    """Check the images and labels of ``source``, and return them as data.

    Labels may be a column, (count, 1).

    Raises:
        BadInput: they have another type or size.
    """
    where = f"{source}: {keys[1]}"
    check_numbers(f"{source}: {keys[0]}", images)
    classes = whole_numbers(where, labels)
    count = images.shape[:1]
    if images.ndim == 0 or classes.shape not in (count, (*count, 1)):
        raise BadInput(f"{where}: size {labels.shape}: allowed is {count}, one per image")
    return Data(source, images, classes.reshape(count), keys)


def fitted(data: Data, network: Network) -> Data:
    """Return the data with images of the network's size, (count, rows, columns, channels).

    Raises:
        BadInput: as for ``of_size``.
    """
    images = of_size(data.where, data.images, network)
    if images.dtype == np.uint8 and data.divisor == 1 and images.max(initial=0) > 1:
        notice(
            f"{data.where}: bytes, used unchanged; divide them by {WHITE} for usual learning rates"
        )
    held = None if data.held is None else fitted(data.held, network)
    return replace(data, images=images, held=held)


def of_size(where: str, images: NDArray[Any], network: Network) -> NDArray[Any]:
    """Return images of the network's size, (count, rows, columns, channels).

    If the sizes fit channels last, they are taken so. Otherwise channels may come first, or be
    missing if there is one. An image may also be a row of numbers in the order of channels last.
    ``where`` starts the error message.

    Raises:
        BadInput: the images have another size.
    """
    size = images.shape[1:]
    rows, columns, channels = network.input
    plain = [network.input, (rows * columns * channels,)]
    if channels == 1:
        plain.append((rows, columns))
    if size == (channels, rows, columns) != network.input:
        notice(f"{where}: {size}: channels come first, taken as {network.input}")
        return np.moveaxis(images, 1, -1)
    if size not in plain:
        raise BadInput(f"{where}: size {size}: {network.name} takes {network.input}")
    if len(size) == 1 and channels > 1:
        notice(f"{where}: {size[0]:,} numbers each, taken as {network.input}")
    return images.reshape(len(images), *network.input)
