"""The arrays of a training step in memory, for ``merp layout``."""

from __future__ import annotations

from merp.models.machines.cnn_merp.memory.step_memory import StepMemory
from merp.models.memory.step_arrays import StepArrays
from merp.models.network.network import Network


def step_arrays(network: Network, images: int, *, momentum: bool) -> StepArrays:
    """Return the arrays and passes of a step of undivided layers.

    Raises:
        BadInput: a layer has no design, or ``StepMemory`` refuses the network.
    """
    memory = StepMemory(network, images, momentum)
    return StepArrays(memory.arrays, memory.passes)
