"""Training steps of undivided layers: each group of a layer is a pass.

Un-pooling is behind the engine. Therefore a layer's delta propagation reads the ReLU/pooling mask
of the layer in front, which forward propagation wrote. No delta propagation follows the last layer.
The host undoes its ReLU and pooling with the mask that the hardware wrote.
"""

from __future__ import annotations

from collections.abc import Collection

from merp.cosim.machines.cnn_merp.phases.delta import PORTS, DeltaPhase, delta_pass
from merp.cosim.machines.cnn_merp.phases.forward import ForwardPhase
from merp.cosim.machines.cnn_merp.phases.fused_forward import FusedForward
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
from merp.models.base.bits import Bits
from merp.models.base.rates import UpdateRule
from merp.models.golden.stored import as_it_is
from merp.models.golden.training import Step, leaves, state_behind
from merp.models.golden.unpool import unpool
from merp.models.machines.cnn_merp.designs import design_of
from merp.models.network.branches import behind, next_taker
from merp.models.network.network import Layer, Network
from merp.models.network.step_passes import layer_passes
from merp.testbenches.top.top import Top

WholePhase = ForwardPhase | FusedForward | DeltaPhase | KernelUpdate


class WholeLayers:
    """The layers of a network, each on its design. Deltas are stored at full resolution.

    Args:
        network: network in which every layer has a design.
        images: number of images of a step.

    Raises:
        BadInput: a layer has no design, or its design does not support this number of images.
    """

    pooled = False

    def __init__(self, network: Network, images: int) -> None:
        check_designs(network, images)
        self.network = network

    def order(self, phases: Collection[str]) -> list[tuple[Layer, str]]:
        """Return layer and phase of each pass, for the network's kind of backward propagation."""
        return layer_passes(self.network, phases)

    def top(self, layer: Layer, phase: str, array: str, *, rule: UpdateRule) -> Top:
        """Return the block that runs a phase of the layers that share a design, as a top."""
        return self.phase(layer, phase, rule).top(array)

    def phase(self, layer: Layer, phase: str, rule: UpdateRule) -> WholePhase:
        """Return a phase on the design of a layer."""
        if phase in FORWARD:
            return FORWARD[phase].of(self.network, layer, state=True)
        if phase == "dp":
            return DeltaPhase.of(self.network, layer)
        return KernelUpdate.of(self.network, layer, rule=rule)

    def start_back(self, step: StepSoFar, delta: Bits) -> None:
        """Undo ReLU and pooling of the last layer."""
        last = self.network.layers[-1]
        sums = unpool(delta, step.state(last), last.shape, self.network.fmt)
        step.hand_back(last, as_stored(sums, "dp", "delta_in", design_of(self.network, last)))

    def passes(self, layer: Layer, phase: str, step: StepSoFar, wanted: Step) -> LayerPasses:
        """Run a pass for each group of a layer."""
        if phase in FORWARD:
            audited = yield from forward_groups(self.network, layer, phase, step, wanted)
        else:
            each = {"dp": self._delta, "ku": self._update}[phase]
            audited = yield from each(layer, step, wanted)
        return [one.audit for one in audited]

    def _delta(self, layer: Layer, step: StepSoFar, wanted: Step) -> Groups:
        phase = DeltaPhase.of(self.network, layer)
        earlier = behind(self.network, layer)
        sums, state = step.delta(layer), state_behind(self.network, layer, step.state)
        kernels, _ = step.before(layer).parameters
        golden = leaves(self.network, layer, wanted.of, pooled=False)
        begun = step.start(layer)
        start = None if begun is None else as_it_is(layer, begun)
        audited = yield from in_turn(
            f"{layer.name} dp",
            [
                delta_pass(layer, earlier, group, phase.design, sums, state, kernels, golden, start)
                for group in range(layer.groups)
            ],
        )
        size = golden.shape[:-1]
        left = joined_deltas(audited, PORTS["delta_out"], size, phase.design.engine)
        if next_taker(self.network, layer) is None:
            step.hand_back(earlier, left)
        else:
            step.deltas[earlier.name] = left
        return audited

    def _update(self, layer: Layer, step: StepSoFar, wanted: Step) -> Groups:
        rates, old, new = step.rates, step.before(layer), wanted.updated(layer)
        phase = KernelUpdate.of(self.network, layer, rule=rates.rule)
        x, sums = step.x(layer), step.delta(layer)
        audited = yield from in_turn(
            f"{layer.name} ku",
            [
                update_pass(layer, group, phase.design, x, sums, old, rates, new)
                for group in range(layer.groups)
            ],
        )
        step.new[layer.name] = joined_updates(
            audited, old, phase.design, momentum=rates.rule.momentum
        )
        return audited
