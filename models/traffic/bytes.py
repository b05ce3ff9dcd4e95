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
        layers: returns the bytes of each layer and phase, for a network, a number of images and a
            count. Of the designs it uses only properties of ports.
        caption: returns the description of such a count for a table.
        velocities: ports of velocities, as audits call them.
    """

    layers: Callable[[Network, int, Count], Sequence[LayerTraffic]]
    caption: Callable[[Count], str]
    velocities: tuple[str, ...] = ()


def bytes_of(network: Network) -> Bytes:
    """Return the formulas of the machine that runs a network.

    Raises:
        BadInput: its layers run on several machines, or a part of the machine cannot be loaded.
    """
    machine = machine_that_runs(network)
    found: Bytes = part_of(machine, machine.bytes)
    return found
