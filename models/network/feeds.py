"""The connections of all outputs in a network, found in one pass: files may have thousands of
layers.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Set
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # a network contains its feeds
    from merp.models.network.network import Layer, Network


@dataclass(frozen=True)
class Feeds:
    """Sources of the layers' inputs and users of their outputs, by the layers' names.

    Attributes:
        fronts: the layer whose output each layer takes; None for the images.
        takers: for each output that is taken, the layers that take it, in order.
        adders: for each output that is added, the layers that add it to their sums, in order.
        learning: the layers that are trainable, or have a trainable layer upstream.
    """

    fronts: Mapping[str, Layer | None]
    takers: Mapping[str, tuple[Layer, ...]]
    adders: Mapping[str, tuple[Layer, ...]]
    learning: Set[str]


def feeds_of(network: Network) -> Feeds:
    """Find the connections of a network.

    Raises:
        BadInput: a layer takes the output of a layer that does not exist.
    """
    fronts: dict[str, Layer | None] = {}
    takers: defaultdict[str, list[Layer]] = defaultdict(list)
    adders: defaultdict[str, list[Layer]] = defaultdict(list)
    learning: set[str] = set()
    before = None
    for layer in network.layers:
        front = before if layer.input is None else network.layer(layer.input)
        fronts[layer.name] = front
        if front is not None:
            takers[front.name].append(layer)
        if layer.add is not None:
            adders[layer.add].append(layer)
        upstream = {front.name if front is not None else None, layer.add}
        if layer.trainable or upstream & learning:
            learning.add(layer.name)
        before = layer
    return Feeds(fronts, _fixed(takers), _fixed(adders), learning)


def _fixed(lists: Mapping[str, list[Layer]]) -> dict[str, tuple[Layer, ...]]:
    return {name: tuple(layers) for name, layers in lists.items()}
