"""The fingerprint of the current hardware sources, which ties a record to its hardware."""

from __future__ import annotations

from merp.cosim.engines.myhdl_engine import elaboration_sha
from merp.cosim.machines.loader import phase_of
from merp.models.network.network import Layer, Network
from merp.testbenches.top.top import Top

HARDWARE = "hardware_sha"
"""Key of a record: the fingerprint of the hardware that it was measured on."""


def hardware(network: Network, layer: Layer, phase: str, *, state: bool, before: bool) -> Top:
    """Return the block that runs a phase of a layer, all RTL.

    Args:
        network: the network of the layer.
        layer: the layer.
        phase: name of the phase.
        state: FP also writes the ReLU/pooling mask.
        before: deltas are stored at pooled resolution.

    Raises:
        BadInput: the layer has no design.
    """
    return phase_of(network, layer, phase, state=state, before=before).top("rtl")


def hardware_sha(network: Network, layer: Layer, phase: str, *, state: bool, before: bool) -> str:
    """Return the fingerprint of this block: its parameters, its ports and all hardware sources.

    Raises:
        BadInput: the layer has no design.
    """
    return elaboration_sha(hardware(network, layer, phase, state=state, before=before))
