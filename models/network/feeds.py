"""The connections of all outputs in a network, found in one pass: files may have thousands of
layers.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Set
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from merp.models.network.concatenation import Concatenation, concatenation

if TYPE_CHECKING:  # a network contains its feeds
    from merp.models.network.network import Layer, Network

T = TypeVar("T")


@dataclass(frozen=True)
class Feeds:
    """Sources of the layers' inputs and users of their outputs, by the layers' names.

    Attributes:
        fronts: the layer whose output each layer takes; None for the images. For a layer that takes
            several outputs, it is their concatenation in the form of a layer.
        takers: for each output that is taken, the layers that take it, in order.
        adders: for each output that is added, the layers that add it to their sums, in order.
        learning: the layers whose output needs a delta. They are trainable, have a trainable layer
            upstream, or belong to a concatenation with such a layer.
        concatenations: outputs that layers take together, by the name of the concatenation.
        parts: the same, by the names of their parts.
    """

    fronts: Mapping[str, Layer | None]
    takers: Mapping[str, tuple[Layer, ...]]
    adders: Mapping[str, tuple[Layer, ...]]
    learning: Set[str]
    concatenations: Mapping[str, Concatenation]
    parts: Mapping[str, tuple[Concatenation, ...]]


def feeds_of(network: Network) -> Feeds:
    """Find the connections of a network.

    Raises:
        BadInput: a layer takes the output of a layer that does not exist.
    """
    fronts: dict[str, Layer | None] = {}
    takers: defaultdict[str, list[Layer]] = defaultdict(list)
    adders: defaultdict[str, list[Layer]] = defaultdict(list)
    learning: set[str] = set()
    together: dict[str, Concatenation] = {}
    within: defaultdict[str, list[Concatenation]] = defaultdict(list)
    before = None
    for layer in network.layers:
        if layer.input is None:
            front = before
        elif isinstance(layer.input, str):
            front = network.layer(layer.input)
        else:
            found = concatenation([network.layer(name) for name in layer.input])
            front = found.whole
            parts = {part.name for part in found.parts}
            if front.name not in together:
                together[front.name] = found
                for name in parts:
                    within[name].append(found)
            if parts & learning:
                learning |= {front.name, *parts}
        fronts[layer.name] = front
        if front is not None:
            takers[front.name].append(layer)
        if layer.add is not None:
            adders[layer.add].append(layer)
        upstream = {front.name if front is not None else None, layer.add}
        if layer.trainable or upstream & learning:
            learning.add(layer.name)
        before = layer
    return Feeds(fronts, _fixed(takers), _fixed(adders), learning, together, _fixed(within))


def _fixed(lists: Mapping[str, list[T]]) -> dict[str, tuple[T, ...]]:
    return {name: tuple(layers) for name, layers in lists.items()}
