"""The part ``layout`` of a machine: the arrays of a training step, and the passes that use them."""

from __future__ import annotations

from typing import Protocol

from merp.models.memory.step_arrays import StepArrays
from merp.models.network.network import Network


class MachineLayout(Protocol):
    """The part ``layout`` of a machine."""

    def __call__(self, network: Network, images: int, *, momentum: bool) -> StepArrays:
        """Return the arrays and passes of a step.

        Args:
            network: a network on the machine.
            images: images of a step.
            momentum: whether memory has velocities.

        Raises:
            BadInput: the machine cannot run the step from arrays in memory.
        """
