"""Plans on a board, which the array does not support."""

from __future__ import annotations

from merp.models.network.network import Network
from merp.models.network.planning import SHIPPED
from merp.models.network.registry import machines, of_other
from merp.tools.plan.request import PlanFields


def plan(network: Network, asked: PlanFields) -> None:
    """Refuse the request, because the array has no planner.

    Raises:
        BadInput: names the design, or the format if the plan chooses the designs.
    """
    planning = [machine for machine in machines() if machine.place]
    if asked.fit == SHIPPED:
        for name, design in network.designs.items():
            raise of_other(design, f"{network.name}: design {name}", planning)
    _ = network.fmt  # raises an error with the formats that plans support
