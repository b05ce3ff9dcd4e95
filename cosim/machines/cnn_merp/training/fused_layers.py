"""Training steps of undivided layers whose network has one backward pass per convolution.

A convolution propagates its delta and updates its kernels in one pass. Fully connected layers have
separate phases, and so have layers with only one of them, such as the first layer. Un-pooling is in
front of all these engines. Therefore deltas are stored at pooled resolution, and the host undoes no
pooling.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from merp.cosim.machines.cnn_merp.phases.backward import PORTS as BACKWARD_PORTS
from merp.cosim.machines.cnn_merp.phases.backward import Backward, backward_pass
from merp.cosim.machines.cnn_merp.phases.delta import PORTS as DELTA_PORTS
from merp.cosim.machines.cnn_merp.phases.delta import DeltaPhase, delta_pass
from merp.cosim.machines.cnn_merp.phases.kernel_update import KernelUpdate, update_pass
from merp.cosim.machines.cnn_merp.phases.pins import as_stored
from merp.cosim.machines.cnn_merp.training.groups import (
    FORWARD,
    Groups,
    check_designs,
    forward_groups,
    in_turn,
    joined_deltas,
    joined_updates,
)
from merp.cosim.machines.training.hardware_step import LayerPasses
from merp.cosim.machines.training.step_so_far import StepSoFar
from merp.cosim.phases.phase import HardwarePhase
from merp.models.base.bits import Bits
from merp.models.base.rates import UpdateRule
from merp.models.golden.training import Step
from merp.models.machines.cnn_merp.designs import design_of
from merp.models.machines.cnn_merp.one_pass import check_backward
from merp.models.machines.cnn_merp.phases import check_start
from merp.models.network.branches import receiver
from merp.models.network.network import Layer, Network
from merp.models.network.phases import ONE_PASS
from merp.models.network.step_passes import layer_passes
from merp.testbenches.top.top import Top


class FusedLayers:
    """The layers of a network, each on its design. Deltas are stored at pooled resolution.

    Args:
        network: network in which every layer has a design; its backward phases run in one pass.
        images: number of images of a step.

    Raises:
        BadInput: a layer has no design, or its design does not support this number of images or,
            for a convolution, one backward pass.
    """

    pooled = True

    def __init__(self, network: Network, images: int) -> None:
        check_designs(network, images)
        check_backward(network)
        for layer in network.layers:
            check_start(network, layer)
        self.network = network

    def order(self, phases: Collection[str]) -> list[tuple[Layer, str]]:
        """Return layer and phase of each pass, for the network's kind of backward propagation."""
        return layer_passes(self.network, phases)

    def top(self, layer: Layer, phase: str, array: str, *, rule: UpdateRule) -> Top:
        """Return the block that runs a phase of the layers that share a design, as a top."""
        return self._phase(layer, phase, rule).top(array)

    def _phase(self, layer: Layer, phase: str, rule: UpdateRule) -> HardwarePhase:
        network = self.network
        if phase in FORWARD:
            return FORWARD[phase].of(network, layer, state=True)
        if phase == "dp":
            return DeltaPhase.of(network, layer, before=True)
        if phase == ONE_PASS:
            return Backward.of(network, layer, rule=rule)
        return KernelUpdate.of(network, layer, before=True, rule=rule)

    def start_back(self, step: StepSoFar, delta: Bits) -> None:
        """Store the delta of the last layer, at pooled resolution."""
        last = self.network.layers[-1]
        design = design_of(self.network, last)
        step.deltas[last.name] = as_stored(delta, "ku", "delta_in", design)

    def passes(self, layer: Layer, phase: str, step: StepSoFar, wanted: Step) -> LayerPasses:
        """Run a pass for each group of a layer."""
        if phase in FORWARD:
            audited = yield from forward_groups(self.network, layer, phase, step, wanted)
        else:
            each = {"dp": self._delta, ONE_PASS: self._both, "ku": self._update}[phase]
            audited = yield from each(layer, step, wanted)
        return [one.audit for one in audited]

    def _delta(self, layer: Layer, step: StepSoFar, wanted: Step) -> Groups:
        phase, earlier = DeltaPhase.of(self.network, layer, before=True), self._earlier(layer)
        shape, deltas, state = step.stored(layer)
        kernels, _ = step.before(layer).parameters
        # A fully connected layer reads the maps in front of it flattened.
        size = len(deltas), earlier.shape.pooled_rows, earlier.shape.pooled_columns
        left, start = wanted.left(layer).reshape(*size, -1), step.started(layer)
        here = replace(layer, shape=shape)
        audited = yield from in_turn(
            f"{layer.name} dp",
            [
                delta_pass(here, earlier, group, phase.design, deltas, state, kernels, left, start)
                for group in range(layer.groups)
            ],
        )
        found = joined_deltas(audited, DELTA_PORTS["delta_out"], size, phase.design.engine)
        step.propagated(earlier, found)
        return audited

    def _both(self, layer: Layer, step: StepSoFar, wanted: Step) -> Groups:
        phase = Backward.of(self.network, layer, rule=step.rates.rule)
        old, new, left = step.before(layer), wanted.updated(layer), wanted.left(layer)
        x, stored = step.x(layer), step.stored(layer)
        audited = yield from in_turn(
            f"{layer.name} {ONE_PASS}",
            [
                backward_pass(layer, group, phase.design, x, stored, old, step.rates, left, new)
                for group in range(layer.groups)
            ],
        )
        stream, design = BACKWARD_PORTS["delta_out"], phase.design.update
        earlier = self._earlier(layer)
        found = joined_deltas(audited, stream, left.shape[:-1], design)
        step.propagated(earlier, found)
        step.new[layer.name] = joined_updates(
            audited, old, design, momentum=step.rates.rule.momentum
        )
        return audited

    def _update(self, layer: Layer, step: StepSoFar, wanted: Step) -> Groups:
        rates, old, new = step.rates, step.before(layer), wanted.updated(layer)
        phase = KernelUpdate.of(self.network, layer, before=True, rule=rates.rule)
        shape, deltas, state = step.stored(layer)
        here, x = replace(layer, shape=shape), step.x(layer)
        audited = yield from in_turn(
            f"{layer.name} ku",
            [
                update_pass(
                    here, group, phase.design, x, deltas, old, rates, new, phase.undone, state
                )
                for group in range(layer.groups)
            ],
        )
        step.new[layer.name] = joined_updates(
            audited, old, phase.design, momentum=rates.rule.momentum
        )
        return audited

    def _earlier(self, layer: Layer) -> Layer:
        """Return the layer in front of a layer that propagates a delta."""
        earlier = receiver(self.network, layer)
        assert earlier is not None
        return earlier
