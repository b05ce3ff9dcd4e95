"""Check that an array supports a network, before anything is built."""

from __future__ import annotations

from collections.abc import Sequence

from merp.cosim.machines.mac_array.phases.array_phase import ArrayPhase
from merp.cosim.machines.mac_array.phases.delta import ArrayDeltaPhase
from merp.cosim.machines.mac_array.phases.forward import ArrayForwardPhase
from merp.cosim.machines.mac_array.phases.update import Update
from merp.models.base.errors import BadInput
from merp.models.network.network import Layer, Network
from merp.models.network.phases import has_phase


def check_array(network: Network) -> None:
    """Check that one array supports all layers and phases of a network.

    Raises:
        BadInput: there are several arrays, or the array does not support a layer, which the message
            names.
    """
    check_one_array(network, network.layers)
    for kind in (ArrayForwardPhase, ArrayDeltaPhase, Update):
        for layer in network.layers:
            if has_phase(network, layer, kind.name):
                check_runs(kind.of(network, layer), layer)


def check_one_array(network: Network, layers: Sequence[Layer]) -> None:
    """Check that all layers are on one array, because passes of one layer read masks of another.

    Raises:
        BadInput: there are several arrays.
    """
    designs = list(dict.fromkeys(str(layer.design) for layer in layers))
    if len(designs) > 1:
        raise BadInput(f"{network.name}: designs {', '.join(designs)}: allowed is one array")


def check_runs(phase: ArrayPhase, layer: Layer) -> None:
    """Check that the array supports a phase of a layer.

    Raises:
        BadInput: the array does not support the phase.
    """
    try:
        phase.registers(layer, 1)
    except ValueError as error:
        raise BadInput(f"{phase.network.name}: {layer.name} {phase.name}: {error}") from error
