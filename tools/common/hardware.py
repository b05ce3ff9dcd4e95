"""Which hardware a record belongs to: the fingerprint of what would be elaborated now."""

from __future__ import annotations

from merp.cosim.engines.myhdl_engine import elaboration_sha
from merp.cosim.machines.loader import phase_of
from merp.models.network.network import Layer, Network
from merp.testbenches.top.top import Top

HARDWARE = "hardware_sha"
"""Key of a record: which hardware it belongs to."""


def hardware(network: Network, layer: Layer, phase: str, *, state: bool, before: bool) -> Top:
    """The block that runs a phase of a layer, all RTL.

    Args:
        state: FP also writes the state. before: deltas lie in memory at pooled resolution.

    Raises:
        BadInput: the layer has no design.
    """
    return phase_of(network, layer, phase, state=state, before=before).top("rtl")


def hardware_sha(network: Network, layer: Layer, phase: str, *, state: bool, before: bool) -> str:
    """Fingerprint of that block: its parameters, its ports, and all sources of the hardware.

    Raises:
        BadInput: the layer has no design.
    """
    return elaboration_sha(hardware(network, layer, phase, state=state, before=before))
