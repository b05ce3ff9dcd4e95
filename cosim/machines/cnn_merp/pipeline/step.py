"""Training steps in a pipeline: all layers and phases run concurrently, one run per batch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from merp.cosim.machines.cnn_merp.at_once.batch import ConcurrentBatch
from merp.cosim.machines.cnn_merp.at_once.step import StepAtOnce
from merp.cosim.machines.cnn_merp.pipeline.batch import batch
from merp.cosim.machines.cnn_merp.pipeline.pipeline import HardwarePipeline
from merp.cosim.machines.cnn_merp.pipeline.waits import circle
from merp.cosim.machines.cnn_merp.training.groups import check_designs
from merp.models.base.rates import Rates
from merp.models.golden.training import Model, Step
from merp.models.machines.cnn_merp.at_once.places import DEPTH, check_depth
from merp.models.machines.cnn_merp.params.pipeline_design import PipelineDesign
from merp.models.machines.cnn_merp.pipeline.slices import pipeline_design
from merp.models.network.network import Network


class PipelineStep(StepAtOnce[ConcurrentBatch]):
    """Training steps of a network as a pipeline.

    Args:
        network: as for ``StepAtOnce``.
        engine: as for ``StepAtOnce``.
        more: as for ``StepAtOnce``.
        images: number of images of a step.
        depth: maximum number of images in flight.
        design: design of the pipeline, if it differs from ``pipeline_design``'s.

    Raises:
        BadInput: a layer has no design, or its design does not support this number of images or a
            pipeline; or ``depth`` would deadlock.
    """

    pooled = False

    def __init__(
        self,
        network: Network,
        images: int,
        depth: int,
        engine: str,
        *more: Any,
        design: PipelineDesign | None = None,
        **named: Any,
    ) -> None:
        super().__init__(network, engine, *more, **named)
        check_designs(network, images)
        check_depth(network, images, depth)
        self._design = design or pipeline_design(network, max(depth, DEPTH))
        self._depth = depth

    def _batch(self, model: Model, golden: Step, rates: Rates) -> ConcurrentBatch:
        """Return the step as a run of the hardware."""
        pipeline = HardwarePipeline(self._network, self._design, rates.rule)
        return batch(pipeline, model, golden, rates, self._depth, self._stalls)

    def _circle(self, played: ConcurrentBatch, status: Mapping[str, int]) -> str:
        """Return the cycle of waits of a deadlocked run."""
        return circle(played, status)
