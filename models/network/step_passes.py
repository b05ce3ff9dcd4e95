"""The order of the layers and phases of a training step, on any machine."""

from __future__ import annotations

from collections.abc import Callable, Collection

from merp.models.network.network import Layer, Network
from merp.models.network.phase import Phase
from merp.models.network.phases import has_phase, phases_on


def layer_passes(
    network: Network,
    phases: Collection[str] | None = None,
    has: Callable[[Layer, str], bool] | None = None,
) -> list[tuple[Layer, str]]:
    """Return layer and phase of each pass of a training step, in order.

    Forward propagation runs from the first layer to the last. Then all phases that propagate deltas
    run from the last to the first, then kernel update. Its operands are in memory. Therefore it
    need not alternate with the deltas, which would cost more bitstreams.

    phases: the requested phases; None: all. has: whether a layer runs a phase; None: ``has_phase``.
    """
    layers = [layer for layer in network.layers if layer.design is not None]
    turns = ((_forward, layers), (_propagates, layers[::-1]), (_only_updates, layers))
    return [
        (layer, name)
        for some, order in turns
        for layer in order
        for name, phase in phases_on(network, layer).items()
        if some(phase)
        and (phases is None or name in phases)
        and (has_phase(network, layer, name) if has is None else has(layer, name))
    ]


def _forward(phase: Phase) -> bool:
    return phase.forward


def _propagates(phase: Phase) -> bool:
    return phase.propagates


def _only_updates(phase: Phase) -> bool:
    return phase.backward and not phase.propagates
