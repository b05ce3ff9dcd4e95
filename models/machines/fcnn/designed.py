"""Designs of F-CNN for a network of any machine."""

from __future__ import annotations

from dataclasses import replace

from merp.models.base.errors import BadInput
from merp.models.base.formats import FloatFormat
from merp.models.base.shape import Shape
from merp.models.machines.fcnn.params.design import is_full
from merp.models.machines.fcnn.params.design_section import LANES, design_for
from merp.models.network.network import Network
from merp.models.network.network_keys import SEPARATE


def designed(network: Network, batch: int) -> Network:
    """Return a network on modules with the usual kernels, and lanes that divide the batch.

    Layers with the same kernel, pooling and activation share a design.

    Raises:
        BadInput: the modules do not support a layer, or the network's formats.
    """
    numbers = network.numbers
    if not isinstance(numbers, FloatFormat) or network.storage is not None:
        raise BadInput(f"{network.name}: machine fcnn has float formats without storage")
    usual = LANES.default or 1
    lanes = max(each for each in range(1, usual + 1) if batch % each == 0)
    sharing: dict[str, list[Shape]] = {}
    layers = []
    for layer in network.layers:
        if layer.add is not None:
            raise BadInput(f"{network.name}: layer {layer.name}: machine fcnn has no add")
        shape = layer.shape
        kind = "full" if is_full(shape) else f"k{shape.k}"
        parts = [kind, *([f"p{shape.pool.window}"] if shape.pool else [])]
        name = "-".join([*parts, shape.activation])
        sharing.setdefault(name, []).append(shape)
        layers.append(replace(layer, design=name))
    designs = {}
    for name, shapes in sharing.items():
        try:
            designs[name] = design_for(shapes, lanes, batch, numbers, {})
        except ValueError as error:
            raise BadInput(f"{network.name}: design {name} of fcnn: {error}") from error
    return replace(
        network, layers=tuple(layers), designs=designs, backward=SEPARATE, layer_fusion=()
    )
