"""A training step on the MAC array: image by image, with all passes in one simulation.

Every word of every pass is compared with the golden model. The operands of a pass are the
hardware's results of earlier passes. The host computes the loss.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from merp.cosim.machines.mac_array.phases.array_phase import ArrayPhase
from merp.cosim.machines.mac_array.phases.array_step import ArrayStep
from merp.cosim.machines.mac_array.phases.delta import ArrayDeltaPhase
from merp.cosim.machines.mac_array.phases.forward import ArrayForwardPhase
from merp.cosim.machines.mac_array.phases.step_order import step_order
from merp.cosim.machines.mac_array.phases.update import Update
from merp.cosim.machines.training.hardware_step import Audits, check
from merp.cosim.phases.audit.audit import Audit, combine
from merp.cosim.phases.audit.run_and_audit import Passes, given, run_and_audit
from merp.models.arithmetic.fixed import Words
from merp.models.base.ordered_sum import ordered_sum
from merp.models.golden.loss import Labels
from merp.models.machines.mac_array.fixed_golden_step import FixedGoldenStep
from merp.models.machines.mac_array.fixed_loss import fixed_loss
from merp.models.machines.mac_array.fixed_training import FixedModel, FixedRates
from merp.models.machines.mac_array.fixed_update import Pair
from merp.models.machines.mac_array.kernel_order import as_stored
from merp.models.network.network import Layer, Network
from merp.models.network.network_keys import SEPARATE
from merp.models.network.phases import PHASES
from merp.testbenches.top.player import Progress


class ArrayStepped(NamedTuple):
    """The next model, the mean loss before the step, and the audit of every layer and phase."""

    model: FixedModel
    loss: float
    audits: Audits


class ArrayTraining:
    """Training steps on an engine. Each step is one run of passes back to back.

    Args:
        network: network in which every layer is on one array.
        momentum: whether velocities are built.
        engine: one of ``cosim.engines.engine.ENGINES``.
        begin: called with the name of the next pass.
        progress: called with the progress of a pass.

    Attributes:
        seconds: time of all steps so far: ``building`` the hardware, ``simulating`` it.
    """

    def __init__(
        self,
        network: Network,
        engine: str,
        *,
        momentum: bool,
        begin: Callable[[str], object],
        progress: Progress | None = None,
    ) -> None:
        network = replace(network, backward=SEPARATE)
        first, rounds = network.layers[0], network.fixed.stochastic
        phases: list[ArrayPhase] = [
            each.of(network, first) for each in (ArrayForwardPhase, ArrayDeltaPhase, Update)
        ]
        built = replace(phases[0].design, momentum=momentum, stochastic=rounds)
        self._phases = {each.name: replace(each, design=built) for each in phases}
        self._network, self._engine = network, engine
        self._begin, self._progress = begin, progress
        self.seconds = {"building": 0.0, "simulating": 0.0}

    def step(
        self,
        model: FixedModel,
        images: Words,
        labels: Labels,
        rates: FixedRates,
        loss_kind: str = "cross-entropy",
    ) -> ArrayStepped:
        """Run one step on a batch of (images, rows, columns, channels) words.

        Raises:
            CheckFailed: a bit, a count or a rule of a port was wrong.
            Stuck: no word of a pass moved for too long.
        """
        network = self._network
        step = ArrayStep(FixedGoldenStep(network, images, labels, model, rates, loss_kind))
        found: dict[tuple[str, str], list[Audit]] = {}
        top = self._phases["fp"].top("behavioural" if self._engine == "myhdl" else "rtl")
        order = [(name, layer) for name, layer, _ in step_order(network, network.layers, PHASES)]
        passes = step_passes(step, self._phases, order, self._begin, found)
        done = run_and_audit(top, passes, self._engine, None, self._progress)
        self.seconds["building"] += done[-1].record.build_seconds
        self.seconds["simulating"] += ordered_sum(each.audit.seconds for each in done)
        return stepped(step, labels, found)


def step_passes(
    step: ArrayStep,
    phases: Mapping[str, ArrayPhase],
    order: Sequence[tuple[str, Layer]],
    begin: Callable[[str], object],
    found: dict[tuple[str, str], list[Audit]],
) -> Passes:
    """Yield the passes of all images, and store their results in ``step``.

    Args:
        step: the step.
        phases: the phases by name.
        order: phase and layer of each pass of an image.
        begin: called with the name of the next pass.
        found: receives the audits by layer and phase.

    Raises:
        CheckFailed: a check of a pass failed.
    """
    for image in range(step.images):
        for name, layer in order:
            said = f"{layer.name} {name} image {image + 1}"
            begin(said)
            passes = phases[name].passes(layer, image, step)
            each = next(passes, None)
            while each is not None:
                done = given((yield each))
                check(f"{said}:", done.audit.failures)
                found.setdefault((layer.name, name), []).append(done.audit)
                try:
                    each = passes.send(done.record)
                except StopIteration:
                    each = None


def stepped(
    step: ArrayStep, labels: Labels, found: Mapping[tuple[str, str], Sequence[Audit]]
) -> ArrayStepped:
    """Return the next model, the loss and the combined audits of a step that has run."""
    audits = {key: combine(each) for key, each in found.items()}
    return ArrayStepped(_after(step), _loss(step, labels), audits)


def _after(step: ArrayStep) -> FixedModel:
    before = step.golden.model
    parameters, velocities = dict(before.parameters), dict(before.velocities)
    for layer in step.golden.network.layers:
        if not layer.trainable:
            continue
        name, size = layer.name, before.parameters[layer.name].kernels.shape
        new = step.new[name]
        parameters[name] = Pair(as_stored(new.kernels, size), new.biases)
        if name in step.moving:
            moving = step.moving[name]
            velocities[name] = Pair(as_stored(moving.kernels, size), moving.biases)
    return FixedModel(parameters=parameters, velocities=velocities)


def _loss(step: ArrayStep, labels: Labels) -> float:
    last = step.golden.network.layers[-1]
    outputs = [step.maps[last.name, image] for image in range(step.images)]
    of = step.golden.kept(last, 0).of
    return fixed_loss(of, step.golden.loss_kind, np.concatenate(outputs), labels).value
