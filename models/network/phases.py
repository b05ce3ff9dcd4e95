"""The phases of a training step, and which layers of a network have them."""

from __future__ import annotations

from merp.models.network.branches import previous
from merp.models.network.network import Layer, Network

PHASES = {"fp": "forward propagation", "dp": "delta propagation", "ku": "kernel update"}
"""What each is called, in the order of a step."""


def has_phase(network: Network, layer: Layer, phase: str) -> bool:
    """Whether a layer has the phase: images have no delta to propagate."""
    return phase != "dp" or previous(network, layer) is not None
