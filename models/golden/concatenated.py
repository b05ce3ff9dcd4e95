"""Maps of a concatenation: those of its parts, one after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from merp.models.base.bits import Bits
from merp.models.network.branches import parts
from merp.models.network.network import Layer, Network


def whole(network: Network, front: Layer, of: Callable[[Layer], Bits]) -> Bits:
    """Return the maps (..., maps) of a layer or of a concatenation; ``of`` returns a layer's."""
    found = [of(part) for part, _ in parts(network, front)]
    return found[0] if len(found) == 1 else np.concatenate(found, axis=-1)


def split(network: Network, front: Layer, maps: Bits) -> Iterator[tuple[Layer, Bits]]:
    """Yield each layer of a concatenation with its own of the maps (..., maps); the inverse of
    ``whole``.
    """
    for part, own in parts(network, front):
        yield part, np.ascontiguousarray(maps[..., own])
