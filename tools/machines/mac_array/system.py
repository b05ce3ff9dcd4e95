"""The plan of a training step from memory: the part ``system`` of the machine."""

from __future__ import annotations

from merp.cosim.board.step_plan import StepPlan
from merp.cosim.machines.mac_array.phases.array_phase import usual_rates
from merp.cosim.machines.mac_array.step_plan import board_phases, step_plan
from merp.models.machines.mac_array.memory.step_memory import StepMemory
from merp.models.machines.mac_array.params.design import USUAL_LOSS
from merp.models.network.network import Network


def planned(network: Network, images: int, *, momentum: bool) -> StepPlan:
    """Return the plan of a step whose loss is on the array, with the usual rates.

    Raises:
        BadInput: a layer is on no array, or a pass cannot read its words from memory.
    """
    phases = board_phases(network, USUAL_LOSS, momentum=momentum)
    design = phases["fp"].design
    memory = StepMemory(network, design, images, USUAL_LOSS)
    return step_plan(phases, memory, usual_rates(design, images))
