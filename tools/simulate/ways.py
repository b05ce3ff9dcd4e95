"""Kinds of simulations of a network other than layers in one piece."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from merp.cosim.machines.loader import part_for
from merp.models.base.errors import BadInput
from merp.models.base.given import name_of
from merp.models.network.network import Network
from merp.models.network.registry import machine_that_runs, machines, part_of

Way = Callable[..., Any]
"""A function like ``pieces.pieces``."""


def way_of(network: Network, field: str) -> Way:
    """Return the kind of simulation that a field requests, on the machine of a network.

    Raises:
        BadInput: the machine does not support it. The message lists the machines that do.
    """
    found: Way | None = part_for(network, "ways").get(field)
    if found is not None:
        return found
    having = [each.name for each in machines() if field in part_of(each, each.hardware, "ways")]
    raise BadInput(
        f"{name_of(field)}: {network.name} runs on {machine_that_runs(network).name}: allowed on "
        f"{', '.join(having)}"
    )
