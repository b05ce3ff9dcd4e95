"""The arrays of a training step in memory, for ``merp layout``."""

from __future__ import annotations

from dataclasses import replace

from merp.models.machines.mac_array.memory.step_memory import StepMemory
from merp.models.machines.mac_array.params.design import USUAL_LOSS
from merp.models.machines.mac_array.passes import design_of
from merp.models.memory.step_arrays import StepArrays
from merp.models.network.network import Network


def step_arrays(network: Network, images: int, *, momentum: bool) -> StepArrays:
    """Return the arrays and passes of a step whose loss is on the array.

    Raises:
        BadInput: a layer is on no array, or ``StepMemory`` refuses the network.
    """
    design = replace(design_of(network, network.layers[0]), loss=True, momentum=momentum)
    memory = StepMemory(network, design, images, USUAL_LOSS)
    return StepArrays(memory.arrays, memory.passes)
