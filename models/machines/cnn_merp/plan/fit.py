"""Whose designs a network is planned on: those of its file, or the quickest that may be had."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Final

from merp.models.base.errors import BadInput
from merp.models.machines.cnn_merp.plan.planned import NetworkPlan
from merp.models.network.network import Network
from merp.models.network.planning import BEST, SHIPPED

FASTER: Final = 1.1
"""A plan on other designs is worth a line if this one takes more than so many times as long."""

SEARCHED: Final = 64
"""Layers of the largest network that a better design is looked for unasked.

A search plans each layer some 15 times, once for each pair of widths of the ports.
"""

Planner = Callable[[Network, str], NetworkPlan]
"""Plans a network; the text says what tiles are chosen for."""


def quickest(
    network: Network,
    fit: str,
    goals: Sequence[str],
    planned: Planner,
    seconds: Callable[[NetworkPlan], float],
) -> NetworkPlan:
    """The quickest plan on the designs that ``fit`` allows; of equals the first.

    The file's designs are planned for the first of ``goals``, designs for the board for each.

    Raises:
        BadInput: none can be planned; the message is that of the last one.
    """
    found: list[NetworkPlan] = []
    refusal = BadInput("")
    for each, goal in _designs(network, fit, goals):
        try:
            found.append(planned(each, goal))
        except BadInput as error:
            refusal = error
    if not found:
        raise refusal
    return min(found, key=seconds)


def faster(network: Network, found: NetworkPlan, planned: Planner) -> NetworkPlan | None:
    """A plan on designs for the board that ``found``, on those of the file, is far slower than.

    None is looked for if the file leaves all designs to the plan, or has more than ``SEARCHED``
    layers.
    """
    if not network.designs or len(network.layers) > SEARCHED:
        return None
    try:
        best = planned(_without_designs(network), found.goal)
    except BadInput:
        return None
    return best if found.seconds > FASTER * best.seconds else None


def _designs(network: Network, fit: str, goals: Sequence[str]) -> Iterator[tuple[Network, str]]:
    """The networks with all designs that may be had, and what tiles are chosen for."""
    if network.designs or fit == SHIPPED:
        yield network, goals[0]
    if fit == BEST:
        yield from ((_without_designs(network), goal) for goal in goals)


def _without_designs(network: Network) -> Network:
    """The network, all of whose designs are left to the plan."""
    bare = tuple(replace(layer, design=None) for layer in network.layers)
    return replace(network, layers=bare, designs={})
