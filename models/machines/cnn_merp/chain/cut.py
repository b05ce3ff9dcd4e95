"""How a network is cut over a chain of nodes in hardware.

Engines are those of the network file, however large a share is; what a share takes of a node are
memories, which grow with its input maps. So the input maps of the convolutions are dealt out
evenly. Fully connected layers lie on the last node: FPDeep, section III.
"""

from __future__ import annotations

from merp.models.base.errors import BadInput
from merp.models.base.given import given
from merp.models.machines.cnn_merp.chain.shares import Share
from merp.models.network.network import Layer, Network


def cut(network: Network, devices: int) -> tuple[Share, ...]:
    """Return the shares of a network on so many nodes, in the order of the chain.

    The first layer, whose input has no delta, is in one piece, as are fully connected ones; every
    other convolution can be cut between any two input maps. More than one node: the last has the
    fully connected layers, if there are any.

    Raises:
        BadInput: there are more nodes than input maps can feed.
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
            f"{given('devices', devices)}: {network.name} has maps for {most} nodes at most: one "
            f"for each input map of a convolution, for {network.layers[0].name} one in all, and "
            "one for the fully connected layers"
        )
    nodes = max(1, devices - apart)
    shares: list[Share] = []
    for place, (layer, begin, end) in enumerate(pieces):
        # The first nodes have a map more, where it does not come out even.
        node = next(n for n in range(nodes) if place < -(-len(pieces) * (n + 1) // nodes))
        if shares and (shares[-1].node, shares[-1].layer) == (node, layer):
            begin = shares.pop().begin
        shares.append(Share(node=node, layer=layer, begin=begin, end=end))
    return (
        *shares,
        *(Share(node=devices - 1, layer=layer, begin=0, end=layer.shape.n) for layer in full),
    )


def _pieces(network: Network, layer: Layer) -> list[tuple[int, int]]:
    """Begin and end of what a layer can be dealt out in."""
    if layer is network.layers[0]:
        return [(0, layer.shape.n)]
    return [(place, place + 1) for place in range(layer.shape.n)]
