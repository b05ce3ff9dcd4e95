"""Training steps in the passes of a plan, audited like passes that are simulated alone.

Un-pooling is in front of the engines. Therefore deltas are stored at pooled resolution, and the
host undoes no pooling.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import numpy as np

from merp.cosim.machines.cnn_merp.passes.of_plan import OfPlan
from merp.cosim.machines.cnn_merp.passes.unit import PassUnit, differences, run_unit
from merp.cosim.machines.cnn_merp.phases.pins import as_stored
from merp.cosim.machines.training.hardware_step import LayerPasses, check
from merp.cosim.machines.training.step_so_far import StepSoFar
from merp.cosim.phases.audit.audit import Audit, combine
from merp.cosim.phases.expectation import Pair
from merp.models.base.bits import Bits
from merp.models.base.rates import PLAIN, UpdateRule
from merp.models.golden.state import State, joined, unpacked
from merp.models.golden.training import Step, Updated
from merp.models.machines.cnn_merp.phases import check_start, maps_behind
from merp.models.machines.cnn_merp.plan.planned import NetworkPlan
from merp.models.machines.cnn_merp.reconfiguration import PROPAGATING, UPDATING
from merp.models.network.branches import receiver
from merp.models.network.network import Layer, Network
from merp.models.network.step_passes import layer_passes
from merp.testbenches.top.top import Top


class PlannedLayers:
    """The layers of a network in the passes of its plan.

    Args:
        plan: plan with state ``pooled``; its batch is the images of a step.

    Raises:
        BadInput: no hardware supports the deltas of a layer.
    """

    pooled = True

    def __init__(self, plan: NetworkPlan) -> None:
        for layer in plan.network.layers:
            check_start(plan.network, layer)
        self._plan = plan

    @property
    def network(self) -> Network:
        """The network, with the designs of the plan."""
        return self._plan.network

    def order(self, phases: Collection[str]) -> list[tuple[Layer, str]]:
        """Return layer and phase of each pass, as planned.

        A layer has a single backward pass if the plan has one for it.
        """
        planned = {(each.work.layer.name, each.work.phase) for each in self._plan.layers}

        def has(layer: Layer, phase: str) -> bool:
            return (layer.name, phase) in planned

        return layer_passes(self.network, phases, has)

    def _of(self, layer: Layer, phase: str, rule: UpdateRule) -> OfPlan:
        return OfPlan(self._plan.of(layer.name, phase), rule if phase in UPDATING else PLAIN)

    def top(self, layer: Layer, phase: str, array: str, *, rule: UpdateRule) -> Top:
        """Return the block that runs a phase of the layers that share a design, as a top."""
        return self._of(layer, phase, rule).top(array)

    def start_back(self, step: StepSoFar, delta: Bits) -> None:
        """Store the delta of the last layer, at pooled resolution."""
        last = self.network.layers[-1]
        phase = [name for layer, name in self.order({*PROPAGATING, *UPDATING}) if layer is last][-1]
        design = self._of(last, phase, PLAIN).design
        step.deltas[last.name] = as_stored(delta, phase, "delta_in", design)

    def passes(self, layer: Layer, phase: str, step: StepSoFar, wanted: Step) -> LayerPasses:
        """Run the planned passes: output parts in the outer loop, input parts in the inner loop."""
        of = self._of(layer, phase, step.rates.rule)
        what = f"{layer.name} {phase}"
        audits: list[Audit] = []
        parts: list[Mapping[str, Bits]] = []
        made: list[Mapping[str, Bits]] = []
        for group in range(layer.groups):
            tiles = of.tiles(group, step)
            rows = []
            for outputs in range(len(of.cut.outputs)):
                ran = yield from run_unit(of, PassUnit(group, outputs), tiles, wanted)
                check(what, ran.audit.failures)
                audits.append(ran.audit)
                rows.append(ran.arrays)
            parts += rows
            made.append(tiles.joined(rows))
        check(f"{what} sum of all passes:", differences(combine(audits).moved, of.ports))
        for own, maps, state in of.made:
            step.outputs[own.name] = np.concatenate([each[maps] for each in made], axis=-1)
            states = [_unpacked(each[state], own, each[maps]) for each in parts]
            step.states[own.name] = joined(states)
        if phase in PROPAGATING:
            self._hand_back(layer, step, [each["deltas"] for each in made])
        if phase in UPDATING:
            step.new[layer.name] = _updated(made, step.before(layer))
        return audits

    def _hand_back(self, layer: Layer, step: StepSoFar, deltas: Sequence[Bits]) -> None:
        """Combine the deltas of the groups in the order of the front layer's output maps."""
        earlier = receiver(self.network, layer)
        assert earlier is not None
        rows, columns = earlier.shape.pooled_rows, earlier.shape.pooled_columns
        size = len(step.images), rows, columns, maps_behind(layer.shape, earlier.shape)
        left = np.concatenate([each.reshape(size) for each in deltas], axis=-1)
        step.propagated(earlier, left)


def _unpacked(words: Bits, layer: Layer, maps: Bits) -> State:
    """Unpack the ReLU/pooling mask of some maps of a layer."""
    written = words.astype(np.uint8).tobytes()
    return unpacked(written, layer.shape, maps.shape[-1], len(maps))


def _updated(made: Sequence[Mapping[str, Bits]], old: Updated) -> Updated:
    """Combine the updates of the groups of a layer."""

    def gathered(*names: str) -> Pair:
        kernels, biases = (np.concatenate([each[name] for each in made]) for name in names)
        return kernels, biases

    parameters = gathered("kernels", "biases")
    if "kernel_velocities" not in made[0]:
        return Updated(parameters, old.velocities)
    return Updated(parameters, gathered("kernel_velocities", "bias_velocities"))
