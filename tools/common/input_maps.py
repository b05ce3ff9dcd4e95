"""Default inputs of the first layer: a photograph, or random numbers."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from merp.models.arithmetic.stored import from_memory
from merp.models.arithmetic.words import to_bits
from merp.models.base.bits import Bits
from merp.models.base.byte_image import BYTES, ByteImage
from merp.models.base.formats import FloatFormat
from merp.models.base.storage import StoredFormat
from merp.models.network.network import Network
from merp.tools.common.photograph import CHANNELS, Size, batch


def input_maps(network: Network, images: int, photograph: Path | None = None) -> Bits:
    """Return input maps of a network's first layer: (images, rows, columns, channels) words.

    They show ``photograph``, or the shipped one if it is None. If it is None and no photograph has
    the channels of the network, they are random numbers.

    Raises:
        BadInput: the file is not a readable image, or the network takes another number of channels.
    """
    stored = network.stored_input
    return float_maps(network.input, images, network.fmt, photograph, stored)


def random_maps(network: Network, images: int) -> Bits:
    """Return standard normal numbers, or bytes, as input maps. They are the same in every run."""
    return _random(network.input, images, network.fmt, network.stored_input)


def float_maps(
    size: Size,
    images: int,
    fmt: FloatFormat,
    photograph: Path | None = None,
    stored: StoredFormat | None = None,
) -> Bits:
    """Return input maps of any format and size, with the values of their ``stored`` format.

    Raises:
        BadInput: as for ``input_maps``.
    """
    if photograph is None and size[2] not in CHANNELS:
        return _random(size, images, fmt, stored or fmt)
    return batch(photograph, images, size, fmt, stored or fmt)


def _random(size: Size, images: int, fmt: FloatFormat, stored: StoredFormat) -> Bits:
    rng = np.random.default_rng(0)
    if isinstance(stored, ByteImage):
        drawn = rng.integers(0, BYTES, (images, *size), np.uint8)
        return from_memory(drawn, stored, fmt)
    return to_bits(rng.standard_normal((images, *size)), fmt)
