"""Training steps on a chain of nodes: shares of layers, links, a run for each batch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from merp.cosim.audit.run_and_audit import Audited
from merp.cosim.cluster.batch import ClusterBatch, cluster_batch
from merp.cosim.cluster.cluster import Cluster, ShareEngine
from merp.cosim.cluster.of_share import updated_share
from merp.cosim.cluster.waits import circle
from merp.cosim.engines.record import Record
from merp.cosim.phases.cnn_merp.kernel_update import KernelUpdate
from merp.cosim.pipeline.batch import Batch
from merp.cosim.pipeline.pipeline import Engine
from merp.cosim.training.groups import check_designs, joined_updates
from merp.cosim.training.hardware_step import Whole
from merp.cosim.training.step_at_once import StepAtOnce
from merp.models.cnn_merp.cluster import cluster_design
from merp.models.cnn_merp.cut import cut
from merp.models.cnn_merp.pipeline import DEPTH, check_depth
from merp.models.golden.training import Model, Step, Updated
from merp.models.network.network import Network
from merp.models.params.bits import Bits
from merp.models.params.cnn_merp.cluster_design import ClusterDesign
from merp.models.params.rates import Rates


class ClusterStep(StepAtOnce):
    """Training steps of a network on a chain of nodes.

    Args:
        network, engine, more: as of ``StepAtOnce``.
        images: of a step. depth: on their way at most.
        devices: nodes. pace: cycles of a word on a link, 1 to ``MAX_PACE``.
        design: of the chain, where it is to be another than ``cluster_design``'s.

    Raises:
        BadInput: a layer has no design, one that does not take so many images, or is one that a
            chain has no place for; so few images on their way would wait for ever; or there are
            more nodes than maps can feed.
    """

    pooled = True

    def __init__(
        self,
        network: Network,
        images: int,
        depth: int,
        engine: str,
        *more: Any,
        devices: int,
        pace: int = 1,
        design: ClusterDesign | None = None,
        **named: Any,
    ) -> None:
        super().__init__(network, engine, *more, **named)
        check_designs(network, images)
        self._shares = cut(network, devices)
        self._design = design or cluster_design(network, self._shares, max(depth, DEPTH))
        check_depth(network, images, depth)
        self._depth = depth
        self._pace = pace

    def _batch(self, model: Model, golden: Step, rates: Rates) -> Batch:
        """The step as a run of the hardware."""
        cluster = Cluster(self._network, self._shares, self._design, rates.rule)
        return cluster_batch(cluster, model, golden, rates, self._depth, self._pace, self._stalls)

    def _whole(self, played: Batch, record: Record) -> Whole:
        """What the step was as a whole, and what crossed the links."""
        assert isinstance(played, ClusterBatch)
        crossings = tuple(played.crossings(record.outcome.status))
        return super()._whole(played, record)._replace(crossings=crossings)

    def _circle(self, played: Batch, status: Mapping[str, int]) -> str:
        """Who waits for whom, where it stands still."""
        assert isinstance(played, ClusterBatch)
        return circle(played, status)

    def _updated(
        self, engines: Sequence[Engine], found: Mapping[str, Audited], model: Model
    ) -> Model:
        """The model of the kernels and biases that left, all shares of a layer together."""
        new: dict[str, list[Updated]] = {}
        for engine in engines:
            if isinstance(engine, ShareEngine) and isinstance(engine.phase, KernelUpdate):
                made = joined_updates(
                    [found[engine.name]],
                    updated_share(model.of(engine.layer), engine.share),
                    engine.phase.design,
                    momentum=engine.phase.rule.momentum,
                )
                new.setdefault(engine.layer.name, []).append(made)
        return Model(
            parameters={name: _joined(each, "parameters") for name, each in new.items()},
            velocities={name: _joined(each, "velocities") for name, each in new.items()},
        )


def _joined(shares: Sequence[Updated], what: str) -> tuple[Bits, Bits]:
    """Kernels of all shares, and the biases, which the first has."""
    pairs = [getattr(each, what) for each in shares]
    return np.concatenate([kernels for kernels, _ in pairs], axis=1), pairs[0][1]
