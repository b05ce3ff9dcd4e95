"""The groups of an undivided layer, each a pass. This part is independent of the delta storage."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence

import numpy as np

from merp.cosim.engines.record import RunRecord
from merp.cosim.machines.cnn_merp.phases.forward import ForwardPhase, forward_pass
from merp.cosim.machines.cnn_merp.phases.fused_forward import FusedForward, fused_forward_pass
from merp.cosim.machines.cnn_merp.phases.kernel_update import PORTS
from merp.cosim.machines.cnn_merp.phases.pins import widened_words
from merp.cosim.machines.training.hardware_step import check
from merp.cosim.machines.training.step_so_far import StepSoFar
from merp.cosim.phases.audit.run_and_audit import Audited, given
from merp.cosim.phases.expectation import GroupPass, Pair
from merp.models.base.bits import Bits
from merp.models.golden.training import Step, Updated
from merp.models.machines.cnn_merp.designs import design_of
from merp.models.machines.cnn_merp.fused_pair import check_pair, fused_layers
from merp.models.machines.cnn_merp.params.design import EngineDesign
from merp.models.machines.cnn_merp.params.sizing import check_fits
from merp.models.network.network import Layer, Network
from merp.models.network.phases import PAIR, called

Groups = Generator[GroupPass, Audited | None, Sequence[Audited]]
"""The passes of the groups of a layer, and their results."""


def check_designs(network: Network, images: int) -> None:
    """Check that every layer and every fused pair has a design that supports this number of images.

    Raises:
        BadInput: a design is missing or does not support the number of images, or two layers cannot
            be fused with a mask output.
    """
    if network.layer_fusion:
        check_pair(network, images, state=True)
    for layer in network.layers:
        where = f"{network.name}: layer {layer.name}"
        check_fits(layer.shape, images, design_of(network, layer), where)


def in_turn(what: str, passes: Sequence[GroupPass]) -> Groups:
    """Run the passes of the groups of a layer.

    Raises:
        CheckFailed: a check of a pass failed; the message begins with ``what``.
    """
    audited = []
    for group, each in enumerate(passes):
        audited.append(given((yield each)))
        check(f"{what} group {group}:", audited[-1].audit.failures)
    return audited


FORWARD: dict[str, type[ForwardPhase | FusedForward]] = {
    each.name: each for each in (ForwardPhase, FusedForward)
}
"""Forward phases: of single layers and of two fused layers."""


def forward_groups(
    network: Network, layer: Layer, phase: str, step: StepSoFar, wanted: Step
) -> Groups:
    """Run a phase of ``FORWARD``, and store its outputs and masks in ``step``."""
    each = {ForwardPhase.name: _one, FusedForward.name: _pair}[phase]
    return (yield from each(network, layer, step, wanted))


def _pair(network: Network, layer: Layer, step: StepSoFar, wanted: Step) -> Groups:
    """Run the two layers that the network fuses; ``layer`` is the first."""
    phase = FusedForward.of(network, layer, state=True)
    x = step.x(layer)
    audited = yield from in_turn(
        f"{called(network, layer, PAIR)} {PAIR}",
        [
            fused_forward_pass(
                network, group, phase.design, x,
                lambda each: step.before(each).parameters, wanted.y, wanted.state,
            )
            for group in range(layer.groups)
        ],
    )  # fmt: skip
    records = [each.record for each in audited]
    first, second = fused_layers(network)
    step.outputs[first.name] = phase.between(len(x), records)
    step.outputs[second.name] = phase.outputs(layer, len(x), records)
    step.states[first.name], step.states[second.name] = phase.states(len(x), records)
    return audited


def _one(network: Network, layer: Layer, step: StepSoFar, wanted: Step) -> Groups:
    phase = ForwardPhase.of(network, layer, state=True)
    made, kept = step.before(layer).parameters, wanted.state(layer)
    x, add = step.inputs(layer)
    audited = yield from in_turn(
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


def joined_deltas(
    audited: Sequence[Audited], stream: str, size: tuple[int, ...], design: EngineDesign
) -> Bits:
    """Return the output delta of a stream, of all groups.

    ``size`` gives all dimensions except maps.
    """
    parts = [words_of(each.record, stream).reshape(*size, -1) for each in audited]
    return widened_words(np.concatenate(parts, axis=-1), "dp", "delta_out", design)


def joined_updates(
    audited: Sequence[Audited], old: Updated, design: EngineDesign, *, momentum: bool
) -> Updated:
    """Return the updated kernels and biases of all groups, with momentum also their velocities."""

    def joined(streams: Mapping[str, str], suffix: str, like: Pair) -> Pair:
        found = []
        for port in (f"kernel{suffix}", f"bias{suffix}"):
            words = np.concatenate([words_of(each.record, streams[port]) for each in audited])
            found.append(widened_words(words, "ku", port, design))
        return found[0].reshape(like[0].shape), found[1]

    velocities = old.velocities
    if momentum:
        velocities = joined(PORTS, "_velocity_out", velocities)
    return Updated(joined(PORTS, "_out", old.parameters), velocities)


def words_of(record: RunRecord, stream: str) -> Bits:
    """Return the output words of a stream."""
    return record.words(stream).astype(np.uint32, copy=False)
