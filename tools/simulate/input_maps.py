"""What goes into the first layer where a user gives no maps: a photograph, or random numbers."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from merp.models.arithmetic.stored import from_memory
from merp.models.arithmetic.words import to_bits
from merp.models.network.network import Network
from merp.models.params.bits import Bits
from merp.models.params.byte_image import BYTES, ByteImage
from merp.tools.simulate.photograph import CHANNELS, batch


def input_maps(network: Network, images: int, photograph: Path | None = None) -> Bits:
    """Input maps of a network's first layer: (images, rows, columns, channels) words.

    Those of ``photograph``, or of the one that is shipped; where a network takes as many channels
    as no photograph has, and none is given, random numbers.

    Raises:
        BadInput: the file is not a readable image, or the network takes other channels.
    """
    if photograph is None and network.input[2] not in CHANNELS:
        return random_maps(network, images)
    return batch(photograph, images, network)


def random_maps(network: Network, images: int) -> Bits:
    """Standard normal numbers, or bytes, the same in every run, as ``input_maps`` are."""
    rng, size, stored = np.random.default_rng(0), (images, *network.input), network.stored_input
    if isinstance(stored, ByteImage):
        return from_memory(rng.integers(0, BYTES, size, np.uint8), stored, network.fmt)
    return to_bits(rng.standard_normal(size), network.fmt)
