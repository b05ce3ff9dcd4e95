"""Checks of networks that F-CNN's designs run."""

from __future__ import annotations

from merp.models.base.errors import BadInput
from merp.models.machines.fcnn.phases import design_of
from merp.models.network.branches import begun
from merp.models.network.network import Network


def check_network(network: Network) -> None:
    """Check that no full connection adds its deltas to those of a later layer.

    The module of full connections starts at biases or at +0.

    Raises:
        BadInput: one does; the message names the layer.
    """
    for layer in network.layers:
        if layer.design is None or design_of(network, layer).convolves:
            continue
        if begun(network, layer):
            raise BadInput(
                f"{network.name}: {layer.name}: a later layer takes the same output: on fcnn, "
                "allowed is a full connection as the last one that takes an output"
            )
