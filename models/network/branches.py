"""The connections between the layers of a network: a chain, with branches and residual additions.

A layer takes the output of one layer, the outputs of several layers together (``concatenation``),
or the images. It may add the output of another layer to its sums (a residual connection). In
backward propagation, the delta of an output is the sum of the deltas that its takers propagate; the
last taker propagates first. A layer that adds the output passes on the delta of its own sums.
Deltas exist only downstream of a trainable layer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from merp.models.base.shape import Shape
from merp.models.network.network import Layer, Network


def previous(network: Network, layer: Layer) -> Layer | None:
    """Return the layer whose output is the input of ``layer``; None for the images.

    Outputs of several layers are one concatenation, in the form of a layer.
    """
    return network.feeds.fronts[layer.name]


def parts(network: Network, front: Layer) -> tuple[tuple[Layer, slice], ...]:
    """Return the layers of a concatenation with the ranges of their maps; of a layer, itself."""
    found = network.feeds.concatenations.get(front.name)
    return ((front, slice(None)),) if found is None else tuple(found.maps())


def added(network: Network, layer: Layer) -> Layer | None:
    """Return the layer whose output ``layer`` adds to its sums, or None."""
    return None if layer.add is None else network.layer(layer.add)


def within(network: Network, layer: Layer) -> tuple[Layer, int]:
    """Return the concatenation of which a layer is a part, and the number of its first map there.

    A layer that is no part of one is returned itself, with 0.
    """
    for found in network.feeds.parts.get(layer.name, ()):
        return found.whole, next(own.start for part, own in found.maps() if part == layer)
    return layer, 0


def all_expand(network: Network) -> bool:
    """Return whether one pass can expand the delta of each output to the size of the sums.

    It can for a layer, and for a concatenation whose parts have the same ReLU and pooling.
    Otherwise deltas must be stored at pooled resolution.
    """
    return all(each.alike for each in network.feeds.concatenations.values())


def takers(network: Network, layer: Layer) -> tuple[Layer, ...]:
    """Return the layers that take the output of ``layer``, in order."""
    return network.feeds.takers.get(layer.name, ())


def adder(network: Network, layer: Layer) -> Layer | None:
    """Return the layer that adds the output of ``layer`` to its sums, or None; at most one does."""
    return next(iter(network.feeds.adders.get(layer.name, ())), None)


def learns(network: Network, layer: Layer) -> bool:
    """Return whether the delta of a layer is needed: it is trainable, or a layer upstream is."""
    return layer.name in network.feeds.learning


def receiver(network: Network, layer: Layer) -> Layer | None:
    """Return the layer to whose output ``layer`` propagates its delta.

    None: the layer has no delta propagation. It takes the images, or its input depends on frozen
    layers only.
    """
    front = previous(network, layer)
    return front if front is not None and learns(network, front) else None


def stored_as(network: Network, layer: Layer) -> Layer:
    """Return the layer whose delta in memory represents that of ``layer``; deltas are stored
    pooled.

    An output that is only added has no delta of its own. Its delta is that of the sums of the layer
    that adds it. This delta is stored as the delta of the adding layer's output. Every other layer
    has its own.
    """
    while not takers(network, layer) and layer.name not in network.feeds.parts:
        adding = adder(network, layer)
        if adding is None:
            break
        layer = adding
    return layer


def undone_shape(network: Network, layer: Layer) -> Shape:
    """Return the layer's shape, with the ReLU and pooling that are undone to expand its delta.

    Deltas are stored at pooled resolution. The ReLU and pooling are those of the layer whose delta
    is stored. The sums of that layer have the size of an output that is only added.
    """
    stored = stored_as(network, layer).shape
    return replace(
        layer.shape, relu=stored.relu, relu6=stored.relu6, slope=stored.slope, pool=stored.pool
    )


def beside(network: Network, layer: Layer) -> Layer | None:
    """Return the layer whose sums' delta is the start of the delta propagation of ``layer``.

    It is the layer that adds the input of ``layer``, if ``layer`` is the last one to take this
    input, and therefore propagates first. The start is the stored delta of that layer
    (``stored_as``).
    """
    front = receiver(network, layer)
    if front is None or takers(network, front)[-1] != layer:
        return None
    adding = adder(network, front)
    return None if adding is None else stored_as(network, adding)


def begun(network: Network, layer: Layer) -> bool:
    """Return whether the delta propagation of ``layer`` starts at an existing delta instead of +0.

    This delta is that of the sums of the layer that adds its input. Or later layers have propagated
    it to the same input.
    """
    front = receiver(network, layer)
    if front is None:
        return False
    return takers(network, front)[-1] != layer or adder(network, front) is not None


def next_taker(network: Network, layer: Layer) -> Layer | None:
    """Return the layer that next propagates to the output that ``layer`` takes; None for the
    last.
    """
    front = receiver(network, layer)
    if front is None:
        return None
    beside = takers(network, front)
    index = beside.index(layer)
    return beside[index - 1] if index else None


def behind(network: Network, layer: Layer) -> Layer:
    """Return the layer whose ReLU and pooling are undone after the delta propagation of ``layer``.

    It is the layer in front. For all but the last propagation to it, it is returned without ReLU
    and pooling, because its delta is not complete yet.

    Raises:
        ValueError: the layer has no delta propagation.
    """
    front = receiver(network, layer)
    if front is None:
        raise ValueError(f"{layer.name}: its input needs no delta")
    return front if next_taker(network, layer) is None else outright(front)


def outright(layer: Layer) -> Layer:
    """Return ``layer`` without ReLU and pooling, with sums of the size of its output."""
    shape = layer.shape
    plain = Shape(
        n=shape.n, m=shape.m, k=1, rows=shape.pooled_rows, columns=shape.pooled_columns, relu=False
    )
    return replace(layer, shape=plain)


def misplaced(layers: Sequence[Layer]) -> str | None:
    """Return why ``layers``, in the order of a file, cannot propagate deltas; None if they can.

    The output of the last layer is the network's.
    """
    network = Network(name="", input=(1, 1, 1), layers=tuple(layers))
    places = {layer.name: place for place, layer in enumerate(layers)}
    for name in network.feeds.concatenations:
        if name in places:  # arrays in memory have this name
            return f"layer {name}: allowed is another name: that of a concatenation is {name}"
    if layers[-1].name in network.feeds.parts:
        return f"layer {layers[-1].name}: it is the last: no layer may take its output"
    for layer in layers[:-1]:
        taking, adding = takers(network, layer), adder(network, layer)
        together = network.feeds.parts.get(layer.name, ())
        if together:
            if taking or adding is not None or len(together) > 1:
                return (
                    f"layer {layer.name}: its maps are taken together with those of others "
                    f"({together[0].whole.name}): allowed is no other use of its output"
                )
            continue
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
                "must precede it"
            )
        if last is None and (layer.shape.relu or layer.shape.pool is not None):
            return (
                f"layer {layer.name}: only added, to the sums of {adding.name}: allowed are "
                "relu = false and no pool"
            )
    return None
