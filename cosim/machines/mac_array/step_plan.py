"""The plan of a training step on the MAC array: one engine, its arrays, and one list of passes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from merp.cosim.board.step_plan import PlannedPass, StepPlan
from merp.cosim.machines.mac_array.phases.array_phase import ArrayPhase, ports_of
from merp.cosim.machines.mac_array.phases.scheduled_step import phases_at
from merp.models.machines.mac_array.fixed_training import FixedRates
from merp.models.machines.mac_array.memory.step_memory import StepMemory
from merp.models.machines.mac_array.passes import design_of
from merp.models.memory.step_arrays import StepPass
from merp.models.network.network import Network
from merp.testbenches.mac_array.trainer_bench import registers

ENGINE, LIST = "array", "step"


def board_phases(network: Network, loss: str, *, momentum: bool) -> dict[str, ArrayPhase]:
    """Return the phases by name, on an array that computes the loss; deltas are stored pooled."""
    design = replace(
        design_of(network, network.layers[0]),
        momentum=momentum, stochastic=network.fixed.stochastic, loss=True,
    )  # fmt: skip
    found = phases_at(network, loss, fused=True)
    return {name: replace(phase, design=design) for name, phase in found.items()}


def step_plan(phases: Mapping[str, ArrayPhase], memory: StepMemory, rates: FixedRates) -> StepPlan:
    """Return the plan of a step.

    Args:
        phases: the phases by name.
        memory: arrays and passes, for the design of the phases.
        rates: rates of the update.
    """
    streams = ports_of(memory.design)

    def planned(each: StepPass) -> PlannedPass:
        ends = {"first": each.number == 0, "last": each.number == memory.images - 1}
        layer = memory.network.layer(each.layer)
        work = phases[each.phase].works(layer, rates, **ends)[-1]
        config = registers(work, memory.design)
        parts = {streams[port]: part for port, part in each.parts.items()}
        return PlannedPass(each.layer, each.phase, each.number, ENGINE, config, parts)

    tops = {ENGINE: phases["fp"].top("rtl")}
    return StepPlan(tops, memory.arrays, {LIST: [planned(each) for each in memory.passes]})
