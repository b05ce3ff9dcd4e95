"""The cut of a network over a chain of nodes in hardware.

Every share uses an engine of the network file, independent of the share's size. Only the memories
of a share grow, with its input maps. Therefore the input maps of the convolutions are distributed
evenly. Fully connected layers are on the last node: FPDeep, section III.
"""

from __future__ import annotations

from merp.models.base.errors import BadInput
from merp.models.base.given import given
from merp.models.machines.cnn_merp.chain.shares import Share
from merp.models.network.network import Layer, Network


def cut(network: Network, devices: int) -> tuple[Share, ...]:
    """Return the shares of a network on ``devices`` nodes, in the order of the chain.

    The first layer, whose input has no delta, is not cut, nor are fully connected layers. Every
    other convolution can be cut between any two input maps. With more than one node, the last node
    has the fully connected layers, if there are any.

    Raises:
        BadInput: there are more nodes than pieces.
    """
    full = [layer for layer in network.layers if layer.kind == "fc"]
    pieces = [
        (layer, begin, end)
        for layer in network.layers
        if layer.kind != "fc"
        for begin, end in _pieces(network, layer)
    ]
    apart = 1 if full and pieces else 0
    most = max(1, len(pieces) + apart)
    if devices > most:
        raise BadInput(
            f"{given('devices', devices)}: {network.name} has pieces for {most} nodes at most: "
            f"one per input map of a convolution, one for {network.layers[0].name}, one for fully "
            "connected layers"
        )
    nodes = max(1, devices - apart)
    shares: list[Share] = []
    for place, (layer, begin, end) in enumerate(pieces):
        # If the division leaves a remainder, the first nodes have one more map.
        node = next(n for n in range(nodes) if place < -(-len(pieces) * (n + 1) // nodes))
        if shares and (shares[-1].node, shares[-1].layer) == (node, layer):
            begin = shares.pop().begin
        shares.append(Share(node=node, layer=layer, begin=begin, end=end))
    return (
        *shares,
        *(Share(node=devices - 1, layer=layer, begin=0, end=layer.shape.n) for layer in full),
    )


def _pieces(network: Network, layer: Layer) -> list[tuple[int, int]]:
    """Return begin and end of the pieces of a layer."""
    if layer is network.layers[0]:
        return [(0, layer.shape.n)]
    return [(place, place + 1) for place in range(layer.shape.n)]
