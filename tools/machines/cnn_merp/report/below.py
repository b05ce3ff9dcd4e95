"""The rows below the paper that the hardware supports, with a network's designs adapted to each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from merp.models.base.errors import BadInput
from merp.models.fpga.parts import Part
from merp.models.machines.cnn_merp.designs import designs_of
from merp.models.machines.cnn_merp.fused_pair import check_pair
from merp.models.machines.cnn_merp.one_pass import check_backward
from merp.models.network.network import Network
from merp.models.network.storage_table import of_design
from merp.models.traffic.variants import Variant, changes


def networks_below(network: Network) -> Iterator[Network]:
    """Yield the networks of all supported rows, on designs with the same stored formats.

    If the network fuses two layers, the rows with fusion are included.
    """
    for _, changed in changes(network, network.layer_fusion):
        found = _on_its_designs(changed)
        if found is not None:
            yield found


def is_built(variant: Variant, part: Part) -> bool:
    """Return whether hardware supports a row: it stores masks for deltas at pooled resolution.

    Args:
        part: the part that two fused layers must fit.
    """
    found = _on_its_designs(variant.network) if variant.count.pooled else None
    if found is None or not found.layer_fusion:
        return found is not None
    try:
        check_pair(found, 1, state=True, part=part)
    except BadInput:
        return False
    return True


def _on_its_designs(network: Network) -> Network | None:
    """Return the network with designs for its stored formats and its kind of backward propagation.

    None: the designs do not support them.
    """
    users = {
        name: [layer.name for layer in network.layers if layer.design == name]
        for name in network.designs
    }
    first, storage = network.layers[0].name, network.storage
    try:
        designs = {
            name: replace(
                design, storage=of_design(network.name, name, users[name], first, storage)
            )
            for name, design in designs_of(network).items()
        }
        found = replace(network, designs=designs)
        check_backward(found)
    except (BadInput, ValueError):
        return None
    return found
