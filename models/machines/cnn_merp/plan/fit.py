"""The designs of a plan: those of the network's file, or the fastest available designs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Final

from merp.models.base.errors import BadInput
from merp.models.machines.cnn_merp.plan.planned import NetworkPlan
from merp.models.network.network import Network
from merp.models.network.planning import BEST, SHIPPED

FASTER: Final = 1.1
"""A plan on other designs is mentioned if the given plan takes more than this factor of its
time.
"""

SEARCHED: Final = 64
"""Largest number of layers for which a better design is searched without a request.

A search plans each layer about 15 times, once for each pair of port widths.
"""

Planner = Callable[[Network, str], NetworkPlan]
"""Plans a network; the text is the goal of the choice of tiles."""


def quickest(
    network: Network,
    fit: str,
    goals: Sequence[str],
    planned: Planner,
    seconds: Callable[[NetworkPlan], float],
) -> NetworkPlan:
    """Return the fastest plan on the designs that ``fit`` allows; the first of equal plans.

    The file's designs are planned for the first of ``goals``, designs for the board for each goal.

    Raises:
        BadInput: no plan is possible; the message is that of the last attempt.
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
    """Return a plan on designs for the board that is far faster than ``found`` on the file's
    designs.

    There is no search if the file leaves all designs to the plan, or has more than ``SEARCHED``
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
    """Yield the networks with all available designs, and the goal of the choice of tiles."""
    if network.designs or fit == SHIPPED:
        yield network, goals[0]
    if fit == BEST:
        yield from ((_without_designs(network), goal) for goal in goals)


def _without_designs(network: Network) -> Network:
    """Return the network with all designs left to the plan."""
    bare = tuple(replace(layer, design=None) for layer in network.layers)
    return replace(network, layers=bare, designs={})
