"""Training steps of any floating-point machine by its phases: each group of a layer is a pass.

Deltas are stored at the resolution of the sums. The host undoes ReLU and pooling of the last layer
with the mask of the golden step. At this time the hardware has already computed the layer's output.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Protocol, cast

from merp.cosim.engines.record import RunRecord
from merp.cosim.machines.loader import phase_of
from merp.cosim.machines.training.hardware_step import LayerPasses, check
from merp.cosim.machines.training.step_so_far import StepSoFar
from merp.cosim.phases.audit.run_and_audit import given
from merp.cosim.phases.expectation import Pair
from merp.cosim.phases.phase import HardwarePhase
from merp.models.base.bits import Bits
from merp.models.base.errors import BadInput
from merp.models.base.rates import Rates, UpdateRule
from merp.models.golden.initial import Parameters
from merp.models.golden.training import LayerBackward, Step, Updated
from merp.models.golden.unpool import unpool
from merp.models.network.branches import all_expand, receiver
from merp.models.network.network import Layer, Network
from merp.models.network.phases import phase_on
from merp.models.network.step_passes import layer_passes
from merp.testbenches.top.top import Top


@dataclass(frozen=True)
class _SoFar:
    """A step for ``Phase.golden_pass``: inputs from the hardware, expected outputs golden."""

    step: StepSoFar
    wanted: Step

    @property
    def parameters(self) -> Parameters:
        """Parameters before the step."""
        return self.step.model.parameters

    @property
    def rates(self) -> Rates:
        """Rates of the update."""
        return self.step.rates

    def x(self, layer: Layer) -> Bits:
        """Return the input of a layer, as the hardware computed it."""
        return self.step.x(layer)

    def add(self, layer: Layer) -> Bits | None:
        """Return the hardware's words that are added to the sums of a layer, or None."""
        return self.step.add(layer)

    def y(self, layer: Layer) -> Bits:
        """Return the expected output of a layer."""
        return self.wanted.y(layer)

    def passed(self, layer: Layer) -> LayerBackward:
        """Return input and deltas of a layer, as the hardware computed them."""
        return self.wanted.of(layer)._replace(x=self.x(layer), sums=self.step.delta(layer))

    def before(self, layer: Layer) -> Updated:
        """Return the parameters of a layer before the step."""
        return self.step.before(layer)

    def updated(self, layer: Layer) -> Updated:
        """Return the expected kernels and biases."""
        return self.wanted.updated(layer)


class Updating(HardwarePhase, Protocol):
    """A phase that updates kernels."""

    def updated(self, layer: Layer, records: Sequence[RunRecord]) -> Pair:
        """Return new kernels and biases of all groups in ``records``."""


class InPhases:
    """The layers of a network, each on its design. Deltas are stored at full resolution.

    Raises:
        BadInput: a layer has no design, or a concatenation needs deltas at pooled resolution.
    """

    pooled = False

    def __init__(self, network: Network) -> None:
        for layer in network.layers:
            network.design(layer)  # raises BadInput if there is none
        if not all_expand(network):
            raise BadInput(
                f"{network.name}: its deltas are of sums: allowed are concatenations of layers "
                "with the same ReLU and pooling"
            )
        self.network = network

    def order(self, phases: Collection[str]) -> list[tuple[Layer, str]]:
        """Return layer and phase of each pass, in the order of a step."""
        return layer_passes(self.network, phases)

    def top(self, layer: Layer, phase: str, array: str, *, rule: UpdateRule) -> Top:
        """Return the block that runs a phase of the layers that share a design, as a top."""
        return self._phase(layer, phase).top(array)

    def _phase(self, layer: Layer, phase: str) -> HardwarePhase:
        return phase_of(self.network, layer, phase)

    def start_back(self, step: StepSoFar, delta: Bits) -> None:
        """Undo ReLU and pooling of the last layer."""
        last = self.network.layers[-1]
        step.hand_back(last, unpool(delta, step.state(last), last.shape, self.network.fmt))

    def passes(self, layer: Layer, phase: str, step: StepSoFar, wanted: Step) -> LayerPasses:
        """Run a pass for each group of a layer, and store the results in the step.

        Raises:
            CheckFailed: a check of a pass failed.
        """
        found, does = self._phase(layer, phase), phase_on(self.network, layer, phase)
        audited = []
        for group in range(layer.groups):
            audited.append(given((yield found.golden_pass(layer, group, _SoFar(step, wanted)))))
            check(f"{layer.name} {phase} group {group}:", audited[-1].audit.failures)
        records = [each.record for each in audited]
        if does.updates:
            old = step.before(layer)
            step.new[layer.name] = Updated(
                cast(Updating, found).updated(layer, records), old.velocities
            )
        made = found.outputs(layer, len(step.images), records)
        if does.forward:
            assert made is not None
            step.outputs[layer.name] = made
            step.states[layer.name] = wanted.state(layer)
        front = receiver(self.network, layer)
        if does.propagates and front is not None:
            assert made is not None
            step.hand_back(front, made)
        return [each.audit for each in audited]
