"""The part ``system`` of a machine: the plan of a training step from memory."""

from __future__ import annotations

from typing import Protocol

from merp.cosim.board.step_plan import StepPlan
from merp.models.network.network import Network
from merp.tools.common.machine_parts import machine_part

PART = "system"
"""Name of the part."""


class MachineStep(Protocol):
    """The part ``system`` of a machine."""

    def __call__(self, network: Network, images: int, *, momentum: bool) -> StepPlan:
        """Return the plan of a step, with the usual rates.

        Args:
            network: a network on the machine.
            images: images of a step.
            momentum: whether memory has velocities.

        Raises:
            BadInput: the machine cannot run the step from arrays in memory.
        """


def machine_step(network: Network, asked: str = "") -> MachineStep:
    """Return the part of the machine of a network; ``asked`` is as in ``machine_part``.

    Raises:
        BadInput: the machine lacks the part.
    """
    found: MachineStep = machine_part(network, PART, asked)
    return found
