"""Which outputs go where in a network, found in one go: files may have thousands of layers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # a network holds its feeds
    from merp.models.network.network import Layer, Network


@dataclass(frozen=True)
class Feeds:
    """What stands in front of layers and behind their outputs, by the layers' names.

    Attributes:
        fronts: the layer whose output each one takes; None for the images.
        takers: the layers that take the output of each one that is taken, in order.
        adders: the layers that add the output of each one that is added to their sums, in order.
    """

    fronts: Mapping[str, Layer | None]
    takers: Mapping[str, tuple[Layer, ...]]
    adders: Mapping[str, tuple[Layer, ...]]


def feeds_of(network: Network) -> Feeds:
    """Find them.

    Raises:
        BadInput: a layer takes the output of one that there is not.
    """
    fronts: dict[str, Layer | None] = {}
    takers: defaultdict[str, list[Layer]] = defaultdict(list)
    adders: defaultdict[str, list[Layer]] = defaultdict(list)
    before = None
    for layer in network.layers:
        front = before if layer.input is None else network.layer(layer.input)
        fronts[layer.name] = front
        if front is not None:
            takers[front.name].append(layer)
        if layer.add is not None:
            adders[layer.add].append(layer)
        before = layer
    return Feeds(fronts, _fixed(takers), _fixed(adders))


def _fixed(lists: Mapping[str, list[Layer]]) -> dict[str, tuple[Layer, ...]]:
    return {name: tuple(layers) for name, layers in lists.items()}
