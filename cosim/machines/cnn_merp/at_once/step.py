"""Training steps in which all layers and phases run concurrently: one run of a top per batch."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Generic, TypeVar

import numpy as np

from merp.cosim.engines.engine import run_job
from merp.cosim.engines.job import STUCK_CYCLES, Job
from merp.cosim.engines.record import RunRecord
from merp.cosim.machines.cnn_merp.at_once.batch import ConcurrentBatch
from merp.cosim.machines.cnn_merp.at_once.engines import ConcurrentEngine
from merp.cosim.machines.cnn_merp.phases.forward import PORTS
from merp.cosim.machines.cnn_merp.phases.kernel_update import KernelUpdate
from merp.cosim.machines.cnn_merp.phases.pins import as_stored, widened_words
from merp.cosim.machines.cnn_merp.training.groups import joined_updates
from merp.cosim.machines.training.hardware_step import StepOutcome, WholeStep, check
from merp.cosim.phases.audit.audit import Audit
from merp.cosim.phases.audit.run_and_audit import Audited
from merp.cosim.phases.expectation import Pair
from merp.models.base.bits import Bits
from merp.models.base.errors import CheckFailed
from merp.models.base.rates import Rates
from merp.models.golden.loss import Labels, loss
from merp.models.golden.training import Model, Step, Updated, train_step
from merp.models.machines.cnn_merp.designs import design_of
from merp.models.network.network import Network
from merp.testbenches.top.player import Progress
from merp.testbenches.top.run import Stuck

Played = TypeVar("Played", bound=ConcurrentBatch)


class StepAtOnce(ABC, Generic[Played]):
    """Training steps of a network whose engines run concurrently, on a simulation engine.

    Args:
        network: network in which every layer has a design.
        engine: one of ``cosim.engines.engine.ENGINES``.
        begin: called with the name of the next run.
        progress: called with the progress of a run.
        stalls: stall patterns of the pins, by stream name.
        limit: cycles without a word after which a run counts as stuck.

    Attributes:
        seconds: time of all steps so far: ``building`` the hardware, ``simulating`` it.
        pooled: whether deltas between layers are at pooled resolution.
    """

    pooled: bool

    def __init__(
        self,
        network: Network,
        engine: str,
        begin: Callable[[str], object] | None = None,
        progress: Progress | None = None,
        stalls: Mapping[str, Sequence[int]] | None = None,
        limit: int = STUCK_CYCLES,
    ) -> None:
        self._network = network
        self._engine = engine
        self._begin = begin
        self._progress = progress
        self._stalls = stalls
        self._limit = limit
        self.seconds = {"building": 0.0, "simulating": 0.0}

    def step(
        self,
        model: Model,
        images: Bits,
        labels: Labels,
        rates: Rates,
        loss_kind: str = "cross-entropy",
    ) -> StepOutcome:
        """Run one training step on a batch in the hardware.

        Arguments and result are those of ``HardwareStep.step``.

        Raises:
            CheckFailed: a bit, a count or a rule of a port was wrong.
            Stuck: the hardware is deadlocked.
        """
        network = self._network
        golden = train_step(
            network, model, images, labels, rates, loss_kind, "pooled", pooled=self.pooled
        )
        played = self._batch(model, golden, rates)
        if self._begin is not None:
            self._begin("all layers")
        try:
            record = self._ran(played, "behavioural" if self._engine == "myhdl" else "rtl")
        except Stuck as stuck:
            waits = self._circle(played, stuck.status)
            message = f"{network.name}: no word moved for {self._limit:,} cycles: {waits}"
            raise Stuck(message, stuck.status) from stuck
        self.seconds["building"] += record.build_seconds
        self.seconds["simulating"] += record.outcome.seconds
        check(f"{network.name}:", played.failures(record))
        found = played.audited(record)
        engines = played.hardware.engines
        for engine in engines:
            check(f"{engine.said}:", found[engine.name].audit.failures)
        value = self._loss(found[_scores(engines).name], golden, labels, loss_kind)
        new = self._updated(engines, found, model)
        audits: dict[tuple[str, str], Audit] = {
            (engine.part, engine.phase.name): found[engine.name].audit for engine in engines
        }
        return StepOutcome(new, value, audits, self._whole(played, record), golden.right)

    def _ran(self, played: Played, array: str) -> RunRecord:
        """Run the batch in the hardware, in one simulation."""
        job = Job(played.hardware.top(array), [played.run], limit=self._limit)
        (record,) = run_job(job, self._engine, self._progress)
        return record

    @abstractmethod
    def _batch(self, model: Model, golden: Step, rates: Rates) -> Played:
        """Return the step as a run of the hardware."""

    @abstractmethod
    def _circle(self, played: Played, status: Mapping[str, int]) -> str:
        """Return the cycle of waits of a deadlocked run."""

    def _old(self, engine: ConcurrentEngine, model: Model) -> Updated:
        """Return the kernels and biases that an engine updates, and their velocities."""
        return model.of(engine.layer)

    def _updated(
        self, engines: Sequence[ConcurrentEngine], found: Mapping[str, Audited], model: Model
    ) -> Model:
        """Return a model with the kernels and biases that left the engines.

        All parts of a layer are combined.
        """
        new: dict[str, list[Updated]] = {}
        for engine in engines:
            if isinstance(engine.phase, KernelUpdate):
                made = joined_updates(
                    [found[engine.name]],
                    self._old(engine, model),
                    engine.phase.design,
                    momentum=engine.phase.rule.momentum,
                )
                new.setdefault(engine.layer.name, []).append(made)
        return Model(
            parameters={name: _joined(each, "parameters") for name, each in new.items()},
            velocities={name: _joined(each, "velocities") for name, each in new.items()},
        )

    def _whole(self, played: Played, record: RunRecord) -> WholeStep:
        """Return the results of the step as a whole."""
        return WholeStep(record.outcome.cycles, record.outcome.status["status_flight_peak"])

    def _loss(self, last: Audited, golden: Step, labels: Labels, loss_kind: str) -> float:
        """Return the loss of the output scores. The delta from the host must match these scores.

        Raises:
            CheckFailed: the delta does not match.
        """
        network, layer = self._network, self._network.layers[-1]
        design = design_of(network, layer)
        scores = widened_words(last.record.words(PORTS["map_out"]), "fp", "map_out", design)
        value, delta = loss(loss_kind, scores.reshape(golden.output.shape), labels, network.fmt)
        given = golden.of(layer).delta if self.pooled else golden.of(layer).sums
        if not np.array_equal(
            as_stored(delta.reshape(given.shape), "ku", "delta_in", design), given
        ):
            raise CheckFailed(f"{network.name}: the delta of the loss does not match the scores")
        return value


def _joined(parts: Sequence[Updated], what: str) -> Pair:
    """Join the kernels of all parts. The first part has the biases."""
    pairs = [getattr(each, what) for each in parts]
    return np.concatenate([kernels for kernels, _ in pairs], axis=1), pairs[0][1]


def _scores(engines: Sequence[ConcurrentEngine]) -> ConcurrentEngine:
    """Return the engine whose output is the scores: the last one of forward propagation."""
    return next(each for each in reversed(engines) if each.phase.name == "fp")
