"""The designs of a network's layers on CNN-MERP."""

from __future__ import annotations

from collections.abc import Mapping

from merp.models.machines.cnn_merp.params.design import EngineDesign
from merp.models.network.network import Layer, Network
from merp.models.network.registry import of_kind


def design_of(network: Network, layer: Layer) -> EngineDesign:
    """Return the design that runs ``layer``.

    Raises:
        BadInput: the layer has no design, or a design of another machine.
    """
    return of_kind(EngineDesign, network.design(layer), f"{network.name}: layer {layer.name}")


def designs_of(network: Network) -> Mapping[str, EngineDesign]:
    """Return all designs of a network, by name.

    Raises:
        BadInput: a design is for another machine.
    """
    return {
        name: of_kind(EngineDesign, each, f"{network.name}: design {name}")
        for name, each in network.designs.items()
    }
