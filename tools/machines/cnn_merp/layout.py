"""The arrays of a training step in memory, for ``merp layout``."""

from __future__ import annotations

from merp.models.machines.cnn_merp.memory.step_memory import StepMemory
from merp.models.network.network import Network
from merp.tools.layout.step_arrays import Pass, StepArrays


def step_arrays(network: Network, images: int, *, momentum: bool) -> StepArrays:
    """Return the arrays and passes of a step of undivided layers.

    Raises:
        BadInput: a layer has no design, or ``StepMemory`` refuses the network.
    """
    memory = StepMemory(network, images, momentum)
    passes = [Pass(each.layer.name, each.phase, each.group, each.parts) for each in memory.passes]
    return StepArrays(list(memory.arrays.values()), passes)
