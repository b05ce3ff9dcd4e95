"""Training steps in a pipeline: all layers and phases at once, a run for each batch."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from merp.cosim.audit.audit import Audit
from merp.cosim.audit.run_and_audit import Audited
from merp.cosim.engines.engine import run_job
from merp.cosim.engines.job import STUCK_CYCLES, Job
from merp.cosim.phases.cnn_merp.forward import PORTS
from merp.cosim.phases.cnn_merp.kernel_update import KernelUpdate
from merp.cosim.phases.pins import as_stored, widened_words
from merp.cosim.pipeline.batch import batch
from merp.cosim.pipeline.pipeline import Engine, Pipeline
from merp.cosim.pipeline.waits import circle
from merp.cosim.training.groups import check_designs, joined_updates
from merp.cosim.training.hardware_step import Stepped, Whole, check
from merp.models.cnn_merp.pipeline import DEPTH, check_depth, pipeline_design
from merp.models.errors import CheckFailed
from merp.models.golden.loss import Labels, loss
from merp.models.golden.training import Model, Step, Updated, train_step
from merp.models.network.network import Network
from merp.models.params.bits import Bits
from merp.models.params.cnn_merp.pipeline_design import PipelineDesign
from merp.models.params.rates import Rates
from merp.testbenches.top.player import Progress
from merp.testbenches.top.run import Stuck


class PipelineStep:
    """Training steps of a network as a pipeline, on an engine.

    Args:
        network: every layer of it has a design. images: of a step. depth: on their way at most.
        engine: one of ``cosim.engines.engine.ENGINES``.
        begin: is told what comes next. progress: is told how far it is.
        stalls: of the pins, by stream name. limit: cycles without a word after which it is stuck.
        design: of the pipeline, where it is to be another than ``pipeline_design``'s.

    Attributes:
        seconds: of all steps so far: ``building`` the hardware, ``simulating`` it.

    Raises:
        BadInput: a layer has no design, one that does not take so many images, or is one that a
            pipeline has no place for; or so few images on their way would wait for ever.
    """

    def __init__(
        self,
        network: Network,
        images: int,
        depth: int,
        engine: str,
        begin: Callable[[str], object] | None = None,
        progress: Progress | None = None,
        stalls: Mapping[str, Sequence[int]] | None = None,
        limit: int = STUCK_CYCLES,
        design: PipelineDesign | None = None,
    ) -> None:
        check_designs(network, images)
        check_depth(network, images, depth)
        self._design = design or pipeline_design(network, max(depth, DEPTH))
        self._network = network
        self._depth = depth
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
    ) -> Stepped:
        """Run one step on a batch, as ``HardwareStep.step``.

        Raises:
            CheckFailed: a bit, a count or a rule of a port was wrong.
            Stuck: the pipeline stood still.
        """
        network = self._network
        golden = train_step(network, model, images, labels, rates, loss_kind, "pooled")
        pipeline = Pipeline(network, self._design, rates.rule)
        played = batch(pipeline, model, golden, rates, self._depth, self._stalls)
        if self._begin is not None:
            self._begin("all layers")
        array = "behavioural" if self._engine == "myhdl" else "rtl"
        job = Job(pipeline.top(array), [played.run], limit=self._limit)
        try:
            (record,) = run_job(job, self._engine, self._progress)
        except Stuck as stuck:
            waits = circle(played, stuck.status)
            message = f"{network.name}: no word moved for {self._limit:,} cycles: {waits}"
            raise Stuck(message, stuck.status) from stuck
        self.seconds["building"] += record.build_seconds
        self.seconds["simulating"] += record.outcome.seconds
        check(f"{network.name}:", played.failures(record))
        found = played.audited(record)
        for engine in pipeline.engines:
            failures = found[engine.name].audit.failures
            check(f"{engine.layer.name} {engine.phase.name}:", failures)
        value = self._loss(found, golden, labels, loss_kind)
        new = self._updated(pipeline.engines, found, model)
        audits: dict[tuple[str, str], Audit] = {
            (engine.layer.name, engine.phase.name): found[engine.name].audit
            for engine in pipeline.engines
        }
        whole = Whole(record.outcome.cycles, record.outcome.status["status_flight_peak"])
        return Stepped(new, value, audits, whole)

    def _loss(
        self, found: Mapping[str, Audited], golden: Step, labels: Labels, loss_kind: str
    ) -> float:
        """The loss of the scores that left; the delta that the host gave must be theirs.

        Raises:
            CheckFailed: it is not.
        """
        network, last = self._network, self._network.layers[-1]
        record = found[f"layer{len(network.layers)}_fp"].record
        design = network.design(last)
        scores = widened_words(record.words(PORTS["map_out"]), "fp", "map_out", design)
        value, delta = loss(loss_kind, scores.reshape(golden.output.shape), labels, network.fmt)
        given = golden.of(last).sums
        if not np.array_equal(
            as_stored(delta.reshape(given.shape), "ku", "delta_in", design), given
        ):
            raise CheckFailed(f"{network.name}: the delta of the loss is not that of the scores")
        return value

    def _updated(
        self, engines: Sequence[Engine], found: Mapping[str, Audited], model: Model
    ) -> Model:
        """The model of the kernels and biases that left."""
        new: dict[str, Updated] = {}
        for engine in engines:
            if isinstance(engine.phase, KernelUpdate):
                new[engine.layer.name] = joined_updates(
                    [found[engine.name]],
                    model.of(engine.layer),
                    engine.phase.design,
                    momentum=engine.phase.rule.momentum,
                )
        return Model(
            parameters={name: each.parameters for name, each in new.items()},
            velocities={name: each.velocities for name, each in new.items()},
        )
