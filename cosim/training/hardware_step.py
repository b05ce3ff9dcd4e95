"""A training step in the hardware: forward propagation, delta propagation, kernel update.

Every word of every pass is compared with the golden step (``models.golden.training``). What goes
into a pass is what the hardware made of those before; what it leaves to a host is done here: the
loss, and gather and scatter between the passes.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator, Mapping, Sequence
from itertools import groupby
from typing import NamedTuple, Protocol

import numpy as np

from merp.cosim.phases.audit.audit import Audit, combine
from merp.cosim.phases.audit.run_and_audit import Audited, Passes, run_and_audit
from merp.cosim.phases.expectation import GroupPass
from merp.cosim.training.crossing import Crossing
from merp.cosim.training.step_so_far import StepSoFar
from merp.models.base.bits import Bits
from merp.models.base.errors import CheckFailed
from merp.models.base.ordered_sum import ordered_sum
from merp.models.base.rates import Rates, UpdateRule
from merp.models.golden.loss import Labels, loss
from merp.models.golden.training import Model, Step, Updated, train_step
from merp.models.network.network import Layer, Network
from merp.models.network.phases import called, phases_on
from merp.testbenches.top.player import Progress
from merp.testbenches.top.top import Top

Audits = Mapping[tuple[str, str], Audit]
"""What was found, by name of the layer and phase; of all its passes."""

LayerPasses = Generator[GroupPass, Audited | None, Sequence[Audit]]
"""The passes of a phase of a layer, and in the end their audits, in all of which checks hold."""


class Layers(Protocol):
    """The layers of a network in the hardware."""

    @property
    def network(self) -> Network:
        """Every layer of it has a design; those of one design share its bitstreams."""

    @property
    def pooled(self) -> bool:
        """Whether deltas lie in memory at pooled resolution, or as those of the sums."""

    def order(self, phases: Collection[str]) -> list[tuple[Layer, str]]:
        """Layer and phase of each pass that is one of ``phases``, in the order of a step."""

    def top(self, layer: Layer, phase: str, array: str, *, rule: UpdateRule) -> Top:
        """The block that runs a phase of the layers that share a design."""

    def start_back(self, step: StepSoFar, delta: Bits) -> None:
        """Put the delta of the last layer's output where the way back begins."""

    def passes(self, layer: Layer, phase: str, step: StepSoFar, wanted: Step) -> LayerPasses:
        """The passes of a phase of a layer, which leave in ``step`` what they made.

        Raises:
            CheckFailed: one of their checks does not hold.
        """


class WholeStep(NamedTuple):
    """A step in which all layers and phases ran at once.

    Attributes:
        cycles: from its start until every engine was done. in_flight: images on their way, at most.
        crossings: what crossed the links of a chain of nodes.
    """

    cycles: int
    in_flight: int
    crossings: tuple[Crossing, ...] = ()


class StepOutcome(NamedTuple):
    """What came of a step.

    Attributes:
        model: the next one. loss: mean, before the step. audits: of every layer and phase.
        whole: of a pipeline, the step as one run; None where layers ran one after the other.
    """

    model: Model
    loss: float
    audits: Audits
    whole: WholeStep | None = None


class HardwareStep:
    """Training steps on an engine; what shares a bitstream runs back to back on one elaboration.

    Args:
        layers: that are trained. engine: one of ``cosim.engines.engine.ENGINES``.
        begin: is told the phase and layer that come next.
        progress: is told how far their passes are.

    Attributes:
        seconds: of all steps so far: ``building`` the hardware, ``simulating`` it.
    """

    def __init__(
        self,
        layers: Layers,
        engine: str,
        begin: Callable[[str], object] | None = None,
        progress: Progress | None = None,
    ) -> None:
        self._layers = layers
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
        """Run one step on a batch. What is built for the update follows from the rates.

        Args:
            model: parameters and velocities; it is not changed.
            images: (images, rows, columns, channels) words.
            labels: (images,) classes.
            rates: words of the update's factors.
            loss_kind: one of ``models.golden.loss.LOSSES``.

        Raises:
            CheckFailed: a bit, a count or a rule of a port was wrong.
            Stuck: a pass stood still.
        """
        network = self._layers.network
        there = {
            name: phase
            for layer in network.layers
            for name, phase in phases_on(network, layer).items()
        }
        forth = [name for name, phase in there.items() if phase.forward]
        golden = train_step(
            network, model, images, labels, rates, loss_kind, "pooled", pooled=self._layers.pooled
        )
        so_far = StepSoFar(network, model, rates, images)
        audits: dict[tuple[str, str], Audit] = {}
        self._run(forth, so_far, golden, audits)
        output = so_far.outputs[network.layers[-1].name]
        value, delta = loss(loss_kind, output, labels, network.fmt)
        self._layers.start_back(so_far, delta.reshape(output.shape))
        self._run(there.keys() - set(forth), so_far, golden, audits)
        for layer in network.layers:
            check(layer.name, _differing(so_far.new[layer.name], golden.updated(layer)))
        return StepOutcome(so_far.after, value, audits)

    def _run(
        self,
        phases: Collection[str],
        so_far: StepSoFar,
        golden: Step,
        audits: dict[tuple[str, str], Audit],
    ) -> None:
        """Run phases of all layers in the order of a step, and add their audits."""
        order = self._layers.order(phases)
        for _, some in groupby(order, key=lambda each: (each[0].design, each[1])):
            sharing = list(some)
            layer, phase = sharing[0]
            top = self._layers.top(layer, phase, self._array, rule=so_far.rates.rule)
            passes = self._passes(sharing, so_far, golden, audits)
            done = run_and_audit(top, passes, self._engine, progress=self._progress)
            self.seconds["building"] += done[-1].record.build_seconds
            self.seconds["simulating"] += ordered_sum(each.audit.seconds for each in done)

    def _passes(
        self,
        sharing: Sequence[tuple[Layer, str]],
        so_far: StepSoFar,
        golden: Step,
        audits: dict[tuple[str, str], Audit],
    ) -> Passes:
        for layer, phase in sharing:
            if self._begin is not None:
                self._begin(f"{called(self._layers.network, layer, phase)} {phase}")
            found = yield from self._layers.passes(layer, phase, so_far, golden)
            audits[layer.name, phase] = combine(found)


def _differing(found: Updated, wanted: Updated) -> list[str]:
    """What groups and parts of a layer do not give together, though each by itself is right."""
    return [
        f"{of} of {what}: not those of the golden step"
        for of, ours, theirs in zip(Updated._fields, found, wanted, strict=True)
        for what, array, golden in zip(("kernels", "biases"), ours, theirs, strict=True)
        if not np.array_equal(array, golden)
    ]


def check(where: str, failures: Sequence[str]) -> None:
    """End the step at the first check that does not hold, ``where`` being what it is of.

    Raises:
        CheckFailed: there is one; the message says how many more there are.
    """
    if failures:
        more = f" (and {len(failures) - 1} more)" if len(failures) > 1 else ""
        raise CheckFailed(f"{where} {failures[0]}{more}")
