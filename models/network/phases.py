"""The phases of a training step, and which layers of a network have them."""

from __future__ import annotations

from merp.models.network.network import Layer, Network

PHASES = {"fp": "forward propagation", "dp": "delta propagation", "ku": "kernel update"}
"""What each is called, in the order of a step."""


def previous(network: Network, layer: Layer) -> Layer | None:
    """The layer whose output is the input of ``layer``; None for the first."""
    index = network.layers.index(layer)
    return network.layers[index - 1] if index else None


def has_phase(network: Network, layer: Layer, phase: str) -> bool:
    """Whether a layer has the phase: the input of the first one has no delta to propagate."""
    return phase != "dp" or previous(network, layer) is not None
