"""Bytes on the ports of a machine, by formula."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from merp.models.network.network import Network
from merp.models.network.registry import machine_that_runs, part_of
from merp.models.traffic.closed_form import LayerTraffic
from merp.models.traffic.count import Count


@dataclass(frozen=True, kw_only=True)
class Bytes:
    """Formulas of the bytes on a machine's ports.

    Attributes:
        layers: of each layer and phase, of a network, a batch of so many images and a count.
            The designs of the network do not matter but for what they say of ports.
        caption: what a table of such a count counts.
        velocities: ports of velocities, as audits call them.
    """

    layers: Callable[[Network, int, Count], Sequence[LayerTraffic]]
    caption: Callable[[Count], str]
    velocities: tuple[str, ...] = ()


def bytes_of(network: Network) -> Bytes:
    """Return the formulas of the machine that runs a network.

    Raises:
        BadInput: its layers run on several machines, or the machine's part cannot be loaded.
    """
    machine = machine_that_runs(network)
    found: Bytes = part_of(machine, machine.bytes)
    return found
