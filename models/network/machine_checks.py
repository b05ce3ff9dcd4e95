"""A check that the machines of a network run its layers as the network requests."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from merp.models.network.machine import Machine
from merp.models.network.network import Network
from merp.models.network.network_keys import COMBINED
from merp.models.network.phase import Phase
from merp.models.network.registry import machine_for, machine_of, machines, of_other, part_of


def check_network(network: Network) -> None:
    """Check that the machines of a network's designs run its layers as requested.

    A network without designs is checked by the first machine that supports its number format.

    Raises:
        BadInput: a machine does not; the message gives the network, and the layer or the design.
    """
    if network.backward == COMBINED:
        _check_phases(network, [(f"design {name}", name) for name in network.designs], _combined)
    fused = [network.layer(name) for name in network.layer_fusion]
    used = [(f"layer {each.name}", each.design) for each in fused if each.design is not None]
    _check_phases(network, used, _fuses)
    running = {each.name: each for each in map(machine_of, network.designs.values())}
    for machine in running.values() or (machine_for(network.numbers),):
        if machine.check:
            part_of(machine, machine.check)(network)


def _combined(phase: Phase) -> bool:
    return phase.combined


def _fuses(phase: Phase) -> bool:
    return phase.fuses


def _check_phases(
    network: Network, used: Iterable[tuple[str, str]], needed: Callable[[Phase], bool]
) -> None:
    """Refuse the first design of ``used`` whose machine lacks a phase; keys are names in
    messages.
    """

    def has(machine: Machine) -> bool:
        return any(map(needed, machine.phases))

    for what, design in used:
        asked = network.designs[design]
        if not has(machine_of(asked)):
            raise of_other(asked, f"{network.name}: {what}", filter(has, machines()))
