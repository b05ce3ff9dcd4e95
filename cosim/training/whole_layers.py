"""Training steps of layers in one piece: each group of a layer is a pass.

Un-pooling is behind the engine, so that a layer's delta propagation reads the state of the layer in
front, as forward propagation wrote it. ReLU and pooling of the last layer, which no delta
propagation stands behind, are undone by the host, from the state that the hardware wrote.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence

import numpy as np

from merp.cosim.audit.run_and_audit import Audited, given
from merp.cosim.engines.record import Record
from merp.cosim.phases.cnn_merp.delta import PORTS as DELTA_PORTS
from merp.cosim.phases.cnn_merp.delta import Delta, delta_pass
from merp.cosim.phases.cnn_merp.forward import Forward, forward_pass
from merp.cosim.phases.cnn_merp.kernel_update import PORTS as UPDATE_PORTS
from merp.cosim.phases.cnn_merp.kernel_update import VELOCITY_PORTS, KernelUpdate, update_pass
from merp.cosim.phases.expectation import Pair, Pass
from merp.cosim.phases.pins import as_stored, widened_words
from merp.cosim.training.hardware_step import LayerPasses, check
from merp.cosim.training.step_so_far import StepSoFar
from merp.models.golden.stored import as_it_is
from merp.models.golden.training import Step, Updated, leaves, state_behind
from merp.models.golden.unpool import unpool
from merp.models.network.branches import behind, next_taker
from merp.models.network.network import Layer, Network
from merp.models.params.bits import Bits
from merp.models.params.cnn_merp.sizing import check_fits
from merp.models.params.rates import UpdateRule
from merp.testbenches.top.top import Top


class WholeLayers:
    """The layers of a network, each on its design; deltas lie in memory at full resolution.

    Args:
        network: every layer of it has a design. images: of a step.

    Raises:
        BadInput: a layer has no design, or its design does not take so many images.
    """

    pooled = False

    def __init__(self, network: Network, images: int) -> None:
        for layer in network.layers:
            where = f"{network.name}: layer {layer.name}"
            check_fits(layer.shape, images, network.design(layer), where)
        self.network = network

    def top(self, layer: Layer, phase: str, array: str, *, rule: UpdateRule) -> Top:
        """The block that runs a phase of the layers that share a design."""
        return self._phase(layer, phase, rule).top(array)

    def _phase(self, layer: Layer, phase: str, rule: UpdateRule) -> Forward | Delta | KernelUpdate:
        if phase == "fp":
            return Forward.of(self.network, layer, state=True)
        if phase == "dp":
            return Delta.of(self.network, layer)
        return KernelUpdate.of(self.network, layer, rule=rule)

    def start_back(self, step: StepSoFar, delta: Bits) -> None:
        """Undo ReLU and pooling of the last layer."""
        last = self.network.layers[-1]
        sums = unpool(delta, step.state(last), last.shape, self.network.fmt)
        step.hand_back(last, as_stored(sums, "dp", "delta_in", self.network.design(last)))

    def passes(self, layer: Layer, phase: str, step: StepSoFar, wanted: Step) -> LayerPasses:
        """A pass for each group of a layer."""
        each = {"fp": self._forward, "dp": self._delta, "ku": self._update}[phase]
        audited = yield from each(layer, step, wanted)
        return [one.audit for one in audited]

    def _forward(self, layer: Layer, step: StepSoFar, wanted: Step) -> _Groups:
        phase = Forward.of(self.network, layer, state=True)
        made, kept = step.before(layer).parameters, wanted.state(layer)
        x, add = step.inputs(layer)
        audited = yield from _in_turn(
            f"{layer.name} fp",
            [
                forward_pass(layer, group, phase.design, x, made, wanted.y(layer), kept, add)
                for group in range(layer.groups)
            ],
        )
        records = [each.record for each in audited]
        step.outputs[layer.name] = phase.outputs(layer, len(x), records)
        step.states[layer.name] = phase.states(layer, len(x), records)
        return audited

    def _delta(self, layer: Layer, step: StepSoFar, wanted: Step) -> _Groups:
        phase = Delta.of(self.network, layer)
        earlier = behind(self.network, layer)
        sums, state = step.delta(layer), state_behind(self.network, layer, step.state)
        kernels, _ = step.before(layer).parameters
        golden = leaves(self.network, layer, wanted.of, pooled=False)
        begun = step.start(layer)
        start = None if begun is None else as_it_is(layer, begun)
        audited = yield from _in_turn(
            f"{layer.name} dp",
            [
                delta_pass(layer, earlier, group, phase.design, sums, state, kernels, golden, start)
                for group in range(layer.groups)
            ],
        )
        size = *golden.shape[:-1], -1
        deltas = [_words(each.record, DELTA_PORTS["delta_out"]).reshape(size) for each in audited]
        left = widened_words(
            np.concatenate(deltas, axis=-1), "dp", "delta_out", phase.design.engine
        )
        if next_taker(self.network, layer) is None:
            step.hand_back(earlier, left)
        else:
            step.deltas[earlier.name] = left
        return audited

    def _update(self, layer: Layer, step: StepSoFar, wanted: Step) -> _Groups:
        rates, old, new = step.rates, step.before(layer), wanted.updated(layer)
        phase = KernelUpdate.of(self.network, layer, rule=rates.rule)
        x, sums = step.x(layer), step.delta(layer)
        audited = yield from _in_turn(
            f"{layer.name} ku",
            [
                update_pass(layer, group, phase.design, x, sums, old, rates, new)
                for group in range(layer.groups)
            ],
        )

        def gathered(streams: Mapping[str, str], suffix: str, like: Pair) -> Pair:
            found = []
            for port in (f"kernel{suffix}", f"bias{suffix}"):
                words = np.concatenate([_words(each.record, streams[port]) for each in audited])
                found.append(widened_words(words, "ku", port, phase.design))
            return found[0].reshape(like[0].shape), found[1]

        velocities = old.velocities
        if rates.rule.momentum:
            velocities = gathered(VELOCITY_PORTS, "_velocity_out", velocities)
        parameters = gathered(UPDATE_PORTS, "_out", old.parameters)
        step.new[layer.name] = Updated(parameters, velocities)
        return audited


_Groups = Generator[Pass, Audited | None, Sequence[Audited]]


def _in_turn(what: str, passes: Sequence[Pass]) -> _Groups:
    """The passes of the groups of a layer, and what became of them."""
    audited = []
    for group, each in enumerate(passes):
        audited.append(given((yield each)))
        check(f"{what} group {group}:", audited[-1].audit.failures)
    return audited


def _words(record: Record, stream: str) -> Bits:
    return record.words(stream).astype(np.uint32, copy=False)
