"""The phases of a training step, and which layers of a network have them."""

from __future__ import annotations

from merp.models.network.branches import previous
from merp.models.network.network import Layer, Network
from merp.models.network.network_keys import FUSED

PHASES = {"fp": "forward propagation", "dp": "delta propagation", "ku": "kernel update"}
"""What each is called, in the order of a step."""

ONE_PASS = "bp"
"""Delta propagation and kernel update of a layer in one pass."""

NAMED = PHASES | {ONE_PASS: "delta propagation and kernel update in one pass"}
"""What each is called that hardware runs."""


def has_phase(network: Network, layer: Layer, phase: str) -> bool:
    """Whether a layer has the phase, by how the network goes back.

    Images have no delta to propagate. One pass is for convolutions alone: where the network goes
    back in one, fully connected layers have both phases, and the first layer its update.
    """
    propagates = previous(network, layer) is not None
    one_pass = network.backward == FUSED and propagates and layer.kind == "conv"
    return {
        "fp": True,
        "dp": propagates and not one_pass,
        "ku": not one_pass,
        ONE_PASS: one_pass,
    }[phase]


def phases_of_step(network: Network) -> tuple[str, ...]:
    """The phases that layers of a network have, in the order of ``NAMED``."""
    return tuple(
        phase
        for phase in NAMED
        if any(has_phase(network, layer, phase) for layer in network.layers)
    )
