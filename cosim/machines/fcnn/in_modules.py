"""Training steps of F-CNN: its modules one after the other, and the updates on the host.

The host has the kernels and biases. It reads gradients back and updates the parameters with the
golden rule (F-CNN section III), so that every rule of the golden model is possible.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import cast

from merp.cosim.machines.fcnn.module import Module
from merp.cosim.machines.fcnn.pooling import Unpooling
from merp.cosim.machines.loader import phase_of
from merp.cosim.machines.training.hardware_step import LayerPasses, check
from merp.cosim.machines.training.step_so_far import StepSoFar
from merp.cosim.phases.audit.run_and_audit import given
from merp.models.base.bits import Bits
from merp.models.base.rates import UpdateRule
from merp.models.golden.initial import Parameters
from merp.models.golden.state import State
from merp.models.golden.training import LayerBackward, Step
from merp.models.network.network import Layer, Network
from merp.models.network.step_passes import layer_passes
from merp.testbenches.top.top import Top


@dataclass(frozen=True)
class _SoFar:
    """A step for ``Module.golden_pass``: operands of the hardware, and golden outputs.

    Until its pooling has run, a layer's output in ``step`` is its sums. Until its un-pooling has
    run, its delta is that of its output.

    Attributes:
        step: the hardware's results.
        wanted: the golden step.
        unpools: whether the run is an un-pooling, whose operand is the delta of the output.
    """

    step: StepSoFar
    wanted: Step
    unpools: bool

    @property
    def parameters(self) -> Parameters:
        """Parameters before the step."""
        return self.step.model.parameters

    def x(self, layer: Layer) -> Bits:
        """Return the input of a layer."""
        return self.step.x(layer)

    def sums(self, layer: Layer) -> Bits:
        """Return the sums of a layer in front of its pooling."""
        return self.step.outputs[layer.name]

    def y(self, layer: Layer) -> Bits:
        """Return the output of a layer, as expected."""
        return self.wanted.y(layer)

    def state(self, layer: Layer) -> State:
        """Return the state that the hardware's pooling wrote."""
        return self.step.state(layer)

    def passed(self, layer: Layer) -> LayerBackward:
        """Return the deltas of a layer: the hardware's operands, and expected results."""
        wanted, delta = self.wanted.of(layer), self.step.delta(layer)
        found = wanted._replace(x=self.step.x(layer), start=self.step.start(layer))
        return found._replace(delta=delta) if self.unpools else found._replace(sums=delta)


class InModules:
    """The layers of a network, each on the modules of its design."""

    pooled = True

    def __init__(self, network: Network) -> None:
        self.network = network

    def order(self, phases: Collection[str]) -> list[tuple[Layer, str]]:
        """Return layer and phase of each run, in the order of a step."""
        return layer_passes(self.network, phases)

    def top(self, layer: Layer, phase: str, array: str, *, rule: UpdateRule) -> Top:
        """Return the module of a phase of the layers that share a design, as a top."""
        return phase_of(self.network, layer, phase).top(array)

    def start_back(self, step: StepSoFar, delta: Bits) -> None:
        """Store the delta of the last layer's output."""
        step.hand_back(self.network.layers[-1], delta)

    def passes(self, layer: Layer, phase: str, step: StepSoFar, wanted: Step) -> LayerPasses:
        """Run a phase of each group of a layer, and store the results in the step.

        Raises:
            CheckFailed: a check of a run failed.
        """
        found = cast(Module, phase_of(self.network, layer, phase))
        audited = []
        view = _SoFar(step, wanted, unpools=isinstance(found, Unpooling))
        for group in range(layer.groups):
            audited.append(given((yield found.golden_pass(layer, group, view))))
            check(f"{layer.name} {phase} group {group}:", audited[-1].audit.failures)
        found.store(layer, [each.record for each in audited], step)
        return [each.audit for each in audited]
