"""The phases of F-CNN: each is a module, with a configuration of its own."""

from __future__ import annotations

from merp.models.machines.fcnn.params.design import FcnnDesign
from merp.models.network.branches import learns
from merp.models.network.network import Layer, Network
from merp.models.network.phase import DELTAS, FORWARD, Phase
from merp.models.network.phases import DP, FP, KU
from merp.models.network.registry import of_kind


def design_of(network: Network, layer: Layer) -> FcnnDesign:
    """Return the design of a layer.

    Raises:
        BadInput: it has none, or one of another machine.
    """
    return of_kind(FcnnDesign, network.design(layer), f"{network.name}: layer {layer.name}")


def pools(network: Network, layer: Layer) -> bool:
    """Return whether a layer has pooling or an activation."""
    return design_of(network, layer).pooling is not None


def _unpools(network: Network, layer: Layer) -> bool:
    return learns(network, layer) and pools(network, layer)


def _neither(network: Network, layer: Layer) -> str:
    return f"{layer.name} has no pooling and no activation: allowed: fp, dp, ku, or another layer"


def _no_delta(network: Network, layer: Layer) -> str:
    if not pools(network, layer):
        return _neither(network, layer)
    return f"{layer.name} and the layers in front of it are frozen: allowed: fp, pool"


POOL = Phase(
    name="pool",
    title="activation and pooling",
    does=(FORWARD,),
    part_of=FORWARD,
    has=pools,
    lacks=_neither,
)
"""Forward propagation of a layer, from its sums on."""

UNPOOL = Phase(
    name="unpool",
    title="un-pooling and derivative of the activation",
    does=(DELTAS,),
    part_of=DELTAS,
    has=_unpools,
    lacks=_no_delta,
)
"""Delta propagation from the output of a layer to its sums."""

PHASES = (FP, POOL, UNPOOL, DP, KU)
"""In the order of a step."""
