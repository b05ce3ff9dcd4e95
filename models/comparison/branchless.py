"""A check for architectures that place layers in a sequence: they run chains without branches."""

from __future__ import annotations

from merp.models.base.errors import BadInput
from merp.models.comparison.options import Options
from merp.models.network.branches import previous
from merp.models.network.network import Layer, Network


def chained(network: Network, options: Options, architecture: str) -> list[Layer]:
    """Return the layers in scope; each must read the output of the layer in front of it.

    Raises:
        BadInput: a layer reads or adds the output of another layer.
    """
    layers = options.layers(network)
    for before, layer in zip([None, *network.layers], network.layers, strict=False):
        if layer not in layers:
            continue
        if layer.add is not None:
            raise BadInput(
                f"{network.name}: layer {layer.name} adds the output of {layer.add}: "
                f"{architecture} has no additions, only chains of layers"
            )
        if previous(network, layer) is not before:
            raise BadInput(
                f"{network.name}: layer {layer.name} does not take the output of the layer in "
                f"front of it: {architecture} has no branches, only chains of layers"
            )
    return layers
