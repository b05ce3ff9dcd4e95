"""The order in which the passes of an image run on the array, and their prerequisites."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from merp.models.machines.mac_array.geometry import expanding_phase
from merp.models.network.branches import receiver
from merp.models.network.network import Layer, Network
from merp.models.network.phases import has_phase


def step_order(
    network: Network, layers: Sequence[Layer], phases: Collection[str], *, pooled: bool = False
) -> Iterator[tuple[str, Layer, bool]]:
    """Yield phases and layers in the order of a step, and whether each belongs to the given ones.

    Un-pooling reads the positions of maxima that its layer's forward propagation left on the chip.
    The ReLU of a delta reads the masks of the layer in front. Therefore those passes are included,
    too.

    Args:
        pooled: whether deltas are stored at pooled resolution, so that DP also un-pools them.
    """
    back = [
        (name, layer)
        for layer in reversed(layers)
        for name in ("ku", "dp")
        if name in phases and has_phase(network, layer, name)
    ]
    asked = {layer.name for layer in layers if "fp" in phases}
    needed = set(asked)
    for name, layer in back:
        front = receiver(network, layer)
        unpools = pooled or name == expanding_phase(layer.trainable)
        if unpools and layer.shape.pool is not None:
            needed.add(layer.name)
        if name == "dp" and front is not None and front.shape.relu:
            needed.add(front.name)
    for layer in network.layers:
        if layer.name in needed:
            yield "fp", layer, layer.name in asked
    for name, layer in back:
        yield name, layer, True
