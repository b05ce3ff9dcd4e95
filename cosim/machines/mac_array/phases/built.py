"""What an array does not run, told before anything is built."""

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
    """See that one array runs all layers and phases of a network.

    Raises:
        BadInput: there are several, or it does not run one of them; names the layer.
    """
    check_one_array(network, network.layers)
    for kind in (ArrayForwardPhase, ArrayDeltaPhase, Update):
        for layer in network.layers:
            if has_phase(network, layer, kind.name):
                check_runs(kind.of(network, layer), layer)


def check_one_array(network: Network, layers: Sequence[Layer]) -> None:
    """See that layers are on one array, as masks of one layer are read by another's passes.

    Raises:
        BadInput: there are several.
    """
    designs = list(dict.fromkeys(str(layer.design) for layer in layers))
    if len(designs) > 1:
        raise BadInput(f"{network.name}: designs {', '.join(designs)}: allowed is one array")


def check_runs(phase: ArrayPhase, layer: Layer) -> None:
    """See that the array runs a phase of a layer.

    Raises:
        BadInput: it does not.
    """
    try:
        phase.registers(layer, 1)
    except ValueError as error:
        raise BadInput(f"{phase.network.name}: {layer.name} {phase.name}: {error}") from error
