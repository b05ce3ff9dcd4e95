"""A training step in the hardware: forward propagation, delta propagation, kernel update.

Every word of every pass is compared with the golden step (``models.golden.training``). The operands
of a pass are the hardware's results of earlier passes. This module does the work of the host: the
loss, and gather and scatter between the passes.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator, Mapping, Sequence
from itertools import groupby
from typing import NamedTuple, Protocol

import numpy as np

from merp.cosim.machines.training.crossing import Crossing
from merp.cosim.machines.training.host_update import update_on_host
from merp.cosim.machines.training.step_so_far import StepSoFar
from merp.cosim.phases.audit.audit import Audit, combine
from merp.cosim.phases.audit.run_and_audit import Audited, Passes, run_and_audit
from merp.cosim.phases.expectation import GroupPass
from merp.models.base.bits import Bits
from merp.models.base.errors import CheckFailed
from merp.models.base.ordered_sum import ordered_sum
from merp.models.base.rates import Rates, UpdateRule
from merp.models.golden.accumulated import (
    accumulated_step,
    mean_loss,
    minibatches,
    run_minibatches,
)
from merp.models.golden.loss import Labels, loss
from merp.models.golden.training import Model, Step, Updated
from merp.models.memory.bus_record import MemoryFacts
from merp.models.network.network import Layer, Network
from merp.models.network.phases import called, phases_on
from merp.testbenches.top.player import Progress
from merp.testbenches.top.top import Top

Audits = Mapping[tuple[str, str], Audit]
"""Audits by name of the layer and phase, combined over all passes."""

LayerPasses = Generator[GroupPass, Audited | None, Sequence[Audit]]
"""A generator of the passes of a phase of a layer.

It returns their audits, which have no failure.
"""


class Layers(Protocol):
    """The layers of a network in the hardware."""

    @property
    def network(self) -> Network:
        """The network, in which every layer has a design.

        Layers with the same design share bitstreams.
        """

    @property
    def pooled(self) -> bool:
        """Whether deltas are stored at pooled resolution.

        Otherwise at the resolution of the sums.
        """

    def order(self, phases: Collection[str]) -> list[tuple[Layer, str]]:
        """Return layer and phase of each pass in ``phases``, in the order of a step."""

    def top(self, layer: Layer, phase: str, array: str, *, rule: UpdateRule) -> Top:
        """Return the block that runs a phase of the layers that share a design, as a top."""

    def start_back(self, step: StepSoFar, delta: Bits) -> None:
        """Store the delta of the last layer's output for the start of backward propagation."""

    def passes(self, layer: Layer, phase: str, step: StepSoFar, wanted: Step) -> LayerPasses:
        """Run the passes of a phase of a layer, and store their results in ``step``.

        Raises:
            CheckFailed: a check of a pass failed.
        """


class WholeStep(NamedTuple):
    """A step in which all layers and phases ran concurrently.

    Attributes:
        cycles: cycles from the start until every engine was done.
        in_flight: maximum number of images in flight.
        crossings: words on the links of a chain of nodes.
    """

    cycles: int
    in_flight: int
    crossings: tuple[Crossing, ...] = ()


class StepOutcome(NamedTuple):
    """Results of a step.

    Attributes:
        model: the next model.
        loss: mean loss before the step.
        audits: audits of every layer and phase.
        whole: the step as one run, for a pipeline or a chain; None if layers ran one after the
            other.
        right: images of the batch that were classified correctly before the step, if known.
    """

    model: Model
    loss: float
    audits: Audits
    whole: WholeStep | None = None
    right: int | None = None


class _Running(NamedTuple):
    """A minibatch of a step: the hardware's results, and the golden ones."""

    so_far: StepSoFar
    golden: Step


class HardwareStep:
    """Training steps on an engine.

    Passes with the same bitstream run back to back on one elaboration. If a step has several
    minibatches, all of them run a phase of a layer before the next one.

    Args:
        layers: the layers to train.
        engine: one of ``cosim.engines.engine.ENGINES``.
        begin: called with the next phase and layer.
        progress: called with the progress of their passes.
        memory: as in ``cosim.engines.job.Job``.
        accumulate: minibatches of a step. If there are several, the host updates the kernels.

    Attributes:
        seconds: time of all steps so far: ``building`` the hardware, ``simulating`` it.
    """

    def __init__(
        self,
        layers: Layers,
        engine: str,
        begin: Callable[[str], object] | None = None,
        progress: Progress | None = None,
        memory: MemoryFacts | None = None,
        accumulate: int = 1,
    ) -> None:
        self._layers, self._memory, self._accumulate = layers, memory, accumulate
        self._engine = engine
        self._array = "behavioural" if engine == "myhdl" else "rtl"
        self._begin = begin
        self._progress = progress
        self.seconds = {"building": 0.0, "simulating": 0.0}

    def step(
        self,
        model: Model,
        images: Bits,
        labels: Labels,
        rates: Rates,
        loss_kind: str = "cross-entropy",
    ) -> StepOutcome:
        """Run one step on its minibatches. The rates determine the update hardware.

        Args:
            model: parameters and velocities; it is not changed.
            images: (images, rows, columns, channels) words of all minibatches.
            labels: (images,) classes.
            rates: words of the update's factors.
            loss_kind: one of ``models.golden.loss.LOSSES``.

        Raises:
            CheckFailed: a bit, a count or a rule of a port was wrong.
            Stuck: no word of a pass moved for too long.
        """
        network = self._layers.network
        there = {
            name: phase
            for layer in network.layers
            for name, phase in phases_on(network, layer).items()
        }
        forth = [name for name, phase in there.items() if phase.forward]
        found = list(run_minibatches(
            network, model, images, labels, self._accumulate, loss_kind, "pooled",
            pooled=self._layers.pooled,
        ))  # fmt: skip
        golden = accumulated_step(network, model, found, rates)
        parts = list(minibatches(images, labels, self._accumulate))
        some = [
            _Running(StepSoFar(network, model, rates, x), Step.of_minibatch(each, golden.model))
            for (x, _), each in zip(parts, found, strict=True)
        ]
        audits: dict[tuple[str, str], Audit] = {}
        self._run(forth, some, audits)
        losses = []
        for (_, wanted), (so_far, _) in zip(parts, some, strict=True):
            output = so_far.outputs[network.layers[-1].name]
            value, delta = loss(loss_kind, output, wanted, network.fmt)
            self._layers.start_back(so_far, delta.reshape(output.shape))
            losses.append(value)
        self._run(there.keys() - set(forth), some, audits)
        update_on_host([each.so_far for each in some])
        after = some[0].so_far.after
        for layer in network.layers:
            check(layer.name, _differing(after.of(layer), golden.model.of(layer)))
        return StepOutcome(after, mean_loss(losses), audits, right=golden.right)

    def _run(
        self,
        phases: Collection[str],
        some: Sequence[_Running],
        audits: dict[tuple[str, str], Audit],
    ) -> None:
        """Run phases of all layers in the order of a step, and add their audits."""
        order = self._layers.order(phases)
        for _, same in groupby(order, key=lambda each: (each[0].design, each[1])):
            sharing = list(same)
            layer, phase = sharing[0]
            top = self._layers.top(layer, phase, self._array, rule=some[0].so_far.rates.rule)
            passes = self._passes(sharing, some, audits)
            done = run_and_audit(
                top, passes, self._engine, progress=self._progress, memory=self._memory
            )
            self.seconds["building"] += done[-1].record.build_seconds
            self.seconds["simulating"] += ordered_sum(each.audit.seconds for each in done)

    def _passes(
        self,
        sharing: Sequence[tuple[Layer, str]],
        some: Sequence[_Running],
        audits: dict[tuple[str, str], Audit],
    ) -> Passes:
        for layer, phase in sharing:
            if self._begin is not None:
                self._begin(f"{called(self._layers.network, layer, phase)} {phase}")
            found: list[Audit] = []
            for so_far, golden in some:
                found += yield from self._layers.passes(layer, phase, so_far, golden)
            audits[layer.name, phase] = combine(found)


def _differing(found: Updated, wanted: Updated) -> list[str]:
    """Return the arrays that differ although each pass is correct by itself."""
    return [
        f"{of} of {what}: different from the golden step"
        for of, ours, theirs in zip(Updated._fields, found, wanted, strict=True)
        for what, array, golden in zip(("kernels", "biases"), ours, theirs, strict=True)
        if not np.array_equal(array, golden)
    ]


def check(where: str, failures: Sequence[str]) -> None:
    """End the step at the first failed check; ``where`` names its layer, phase or pass.

    Raises:
        CheckFailed: a check failed; the message counts the others.
    """
    if failures:
        more = f" (and {len(failures) - 1} more)" if len(failures) > 1 else ""
        raise CheckFailed(f"{where} {failures[0]}{more}")
