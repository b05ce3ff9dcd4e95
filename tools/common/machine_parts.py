"""Parts of machines that only some of them have, for verbs that need one."""

from __future__ import annotations

from typing import Any

from merp.cosim.machines.loader import having, optional_part
from merp.models.base.errors import BadInput
from merp.models.network.network import Network
from merp.models.network.registry import machine_that_runs


def machine_part(network: Network, part: str, asked: str = "") -> Any:
    """Return a part of the machine of a network; ``asked`` is the option that needs it.

    Raises:
        BadInput: layers run on several machines, or the machine lacks the part.
    """
    machine = machine_that_runs(network)
    found = optional_part(machine, part, None)
    if found is None:
        said = f"{asked}: " if asked else ""
        raise BadInput(
            f"{network.name}: {said}it runs on {machine.name}: allowed are networks on "
            f"{' or '.join(having(part))}"
        )
    return found
