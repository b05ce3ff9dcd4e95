"""Which layers of a network feed which: a chain, with branches and residual additions.

A layer takes the output of one layer, or the images, and may add that of another one to its sums
(a residual connection). On the way back the delta of an output is the sum of what those that take
it propagate, the last one's first; one that adds it hands the delta of its own sums on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from merp.models.base.shape import Shape
from merp.models.network.network import Layer, Network


def previous(network: Network, layer: Layer) -> Layer | None:
    """The layer whose output is the input of ``layer``; None for the images."""
    return network.feeds.fronts[layer.name]


def added(network: Network, layer: Layer) -> Layer | None:
    """The layer whose output ``layer`` adds to its sums, if it does."""
    return None if layer.add is None else network.layer(layer.add)


def takers(network: Network, layer: Layer) -> tuple[Layer, ...]:
    """The layers that take the output of ``layer``, in order."""
    return network.feeds.takers.get(layer.name, ())


def adder(network: Network, layer: Layer) -> Layer | None:
    """The layer that adds the output of ``layer`` to its sums: at most one does."""
    return next(iter(network.feeds.adders.get(layer.name, ())), None)


def stored_as(network: Network, layer: Layer) -> Layer:
    """The layer, whose delta in memory is that of ``layer``, where deltas lie at pooled resolution.

    An output that is only added has no other delta than that of the sums of the layer that adds it,
    which lies there as the delta of that one's output. Every other layer has its own.
    """
    while not takers(network, layer):
        adding = adder(network, layer)
        if adding is None:
            break
        layer = adding
    return layer


def undone_shape(network: Network, layer: Layer) -> Shape:
    """The layer's shape, with the ReLU and pooling that are undone where its delta is expanded.

    Deltas lie at pooled resolution; the ReLU and pooling are those of the layer that it is stored
    as, whose sums are as large as an output that is only added.
    """
    stored = stored_as(network, layer).shape
    return replace(layer.shape, relu=stored.relu, pool=stored.pool)


def beside(network: Network, layer: Layer) -> Layer | None:
    """The layer, at the delta of whose sums the delta propagation of ``layer`` starts.

    It is the one that adds what ``layer`` takes, where that is the first propagation on the way
    back, of the last layer to take it; as its delta is stored (``stored_as``).
    """
    front = previous(network, layer)
    if front is None or takers(network, front)[-1] != layer:
        return None
    adding = adder(network, front)
    return None if adding is None else stored_as(network, adding)


def begun(network: Network, layer: Layer) -> bool:
    """Whether the delta propagation of ``layer`` starts at what is there, in place of +0.

    That is the delta of the sums of the layer that adds its input, or what the layers behind it
    have propagated to the same input.
    """
    front = previous(network, layer)
    if front is None:
        return False
    return takers(network, front)[-1] != layer or adder(network, front) is not None


def next_taker(network: Network, layer: Layer) -> Layer | None:
    """The next one on the way back to take the same output as ``layer``; None for the last."""
    front = previous(network, layer)
    if front is None:
        return None
    beside = takers(network, front)
    index = beside.index(layer)
    return beside[index - 1] if index else None


def behind(network: Network, layer: Layer) -> Layer:
    """The layer whose ReLU and pooling are undone behind the delta propagation of ``layer``.

    That is the one in front of it; for all but the last propagation to it, the same without ReLU
    and pooling: its delta is not complete yet.

    Raises:
        ValueError: there is no layer in front.
    """
    front = previous(network, layer)
    if front is None:
        raise ValueError(f"{layer.name}: the images have no delta")
    return front if next_taker(network, layer) is None else outright(front)


def outright(layer: Layer) -> Layer:
    """A layer with neither ReLU nor pooling, whose sums are as large as the output of ``layer``."""
    shape = layer.shape
    plain = Shape(
        n=shape.n, m=shape.m, k=1, rows=shape.pooled_rows, columns=shape.pooled_columns, relu=False
    )
    return replace(layer, shape=plain)


def misplaced(layers: Sequence[Layer]) -> str | None:
    """Say what of ``layers``, in the order of a file, cannot be propagated back; None if all can.

    The last one's output is the network's.
    """
    network = Network(name="", input=(1, 1, 1), layers=tuple(layers))
    places = {layer.name: place for place, layer in enumerate(layers)}
    for layer in layers[:-1]:
        taking, adding = takers(network, layer), adder(network, layer)
        if not taking and adding is None:
            return f"layer {layer.name}: no layer takes its output or adds it"
        if len(network.feeds.adders.get(layer.name, ())) > 1:
            return f"layer {layer.name}: one layer at most may add its output"
        if adding is None:
            continue
        last = taking[-1] if taking else None
        if last is not None and places[last.name] > places[adding.name]:
            return (
                f"layer {adding.name}: add = {layer.name!r}: layer {last.name}, which takes it, "
                "must stand before it"
            )
        if last is None and (layer.shape.relu or layer.shape.pool is not None):
            return (
                f"layer {layer.name}: only added, to the sums of {adding.name}: allowed are "
                "relu = false and no pool"
            )
    return None
