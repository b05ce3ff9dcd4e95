"""The plan of a training step of undivided layers: engines, arrays, and two lists of passes."""

from __future__ import annotations

from merp.cosim.board.step_plan import PlannedPass, StepPlan
from merp.cosim.machines.cnn_merp.phases.fused_forward import FusedForward
from merp.cosim.machines.cnn_merp.phases.kernel_update import KernelUpdate
from merp.cosim.machines.cnn_merp.training.engine_resources import engine_resources
from merp.cosim.machines.cnn_merp.training.whole_layers import WholeLayers
from merp.models.base.formats import FloatFormat
from merp.models.base.rates import Rates, UpdateRule
from merp.models.fpga.resources import Resources
from merp.models.golden.training import RATE, rates_of
from merp.models.machines.cnn_merp.memory.step_memory import StepMemory
from merp.models.machines.cnn_merp.params.kernel_update_registers import kernel_update_registers
from merp.models.memory.step_arrays import StepPass
from merp.testbenches.top.top import Top

FORTH, BACK = ("fp",), ("dp", "ku")
"""The phases of the lists. Between them, the host computes the deltas of the loss."""

LISTS = {"forward": FORTH, "backward": BACK}
MOMENTUM, WEIGHT_DECAY = 0.9, 1e-4


def usual_rates(rule: UpdateRule, images: int, fmt: FloatFormat) -> Rates:
    """Return usual rates for an update rule, for plans that only need its hardware."""
    return rates_of(
        RATE, images, fmt,
        momentum=MOMENTUM if rule.momentum else 0.0,
        weight_decay=WEIGHT_DECAY if rule.weight_decay else 0.0,
    )  # fmt: skip


def step_plan(layers: WholeLayers, images: int, rates: Rates) -> StepPlan:
    """Return the plan of a step; the rates determine the update hardware.

    Raises:
        BadInput: a pass of the network cannot read its words from memory.
    """
    network = layers.network
    memory = StepMemory(network, images, rates.rule.momentum)
    names: dict[tuple[str | None, str], str] = {}  # of engines, by design and phase
    tops: dict[str, Top] = {}
    resources: dict[str, Resources] = {}
    for each in memory.passes:
        layer = network.layer(each.layer)
        key = layer.design, each.phase
        if key not in names:
            number = sum(used == each.phase for _, used in names)
            names[key] = f"{each.phase}{number}"
            phase = layers.phase(layer, each.phase, rates.rule)
            assert not isinstance(phase, FusedForward)
            tops[names[key]] = phase.top("rtl")
            resources[names[key]] = engine_resources(phase)

    def planned(each: StepPass) -> PlannedPass:
        layer = network.layer(each.layer)
        phase = layers.phase(layer, each.phase, rates.rule)
        config = (
            kernel_update_registers(layer.shape, images, phase.design, rates)
            if isinstance(phase, KernelUpdate)
            else phase.registers(layer, images)
        )
        parts = {phase.streams[port]: part for port, part in each.parts.items()}
        engine = names[layer.design, each.phase]
        return PlannedPass(each.layer, each.phase, each.number, engine, config, parts)

    lists = {name: [planned(each) for each in memory.of(phases)] for name, phases in LISTS.items()}
    return StepPlan(tops, memory.arrays, lists, resources)
