"""Training steps on a chain of nodes: shares of layers, links, a run for each batch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from merp.cosim.engines.record import RunRecord
from merp.cosim.machines.cnn_merp.at_once.engines import ConcurrentEngine
from merp.cosim.machines.cnn_merp.at_once.step import StepAtOnce
from merp.cosim.machines.cnn_merp.chain.apart import run_apart
from merp.cosim.machines.cnn_merp.chain.batch import ClusterBatch, cluster_batch
from merp.cosim.machines.cnn_merp.chain.cluster import Cluster, ShareEngine
from merp.cosim.machines.cnn_merp.chain.of_share import updated_share
from merp.cosim.machines.cnn_merp.chain.peers import Peers
from merp.cosim.machines.cnn_merp.chain.waits import circle
from merp.cosim.machines.cnn_merp.training.groups import check_designs
from merp.cosim.training.hardware_step import WholeStep
from merp.models.base.rates import Rates
from merp.models.golden.training import Model, Step, Updated
from merp.models.machines.cnn_merp.at_once.places import DEPTH, check_depth
from merp.models.machines.cnn_merp.chain.cut import cut
from merp.models.machines.cnn_merp.chain.shares import cluster_design
from merp.models.machines.cnn_merp.params.cluster_design import ClusterDesign
from merp.models.network.network import Network


class ClusterStep(StepAtOnce[ClusterBatch]):
    """Training steps of a network on a chain of nodes.

    Args:
        network, engine, more: as of ``StepAtOnce``.
        images: of a step. depth: on their way at most.
        devices: nodes. pace: cycles of a word on a link, 1 to ``MAX_PACE``.
        design: of the chain, where it is to be another than ``cluster_design``'s.
        peers: who simulate a node each; None if all are in one simulation.

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
        peers: Peers | None = None,
        **named: Any,
    ) -> None:
        super().__init__(network, engine, *more, **named)
        check_designs(network, images)
        self._shares = cut(network, devices)
        self._design = design or cluster_design(network, self._shares, max(depth, DEPTH))
        check_depth(network, images, depth)
        self._depth = depth
        self._pace = pace
        self._peers = peers

    def _ran(self, played: ClusterBatch, array: str) -> RunRecord:
        """The run in the hardware, in as many simulations as asked for."""
        if self._peers is None:
            return super()._ran(played, array)
        return run_apart(played, array, self._engine, self._limit, self._peers, self._progress)

    def _batch(self, model: Model, golden: Step, rates: Rates) -> ClusterBatch:
        """The step as a run of the hardware."""
        cluster = Cluster(self._network, self._shares, self._design, rates.rule)
        return cluster_batch(cluster, model, golden, rates, self._depth, self._pace, self._stalls)

    def _whole(self, played: ClusterBatch, record: RunRecord) -> WholeStep:
        """What the step was as a whole, and what crossed the links."""
        crossings = tuple(played.crossings(record.outcome.status))
        return super()._whole(played, record)._replace(crossings=crossings)

    def _circle(self, played: ClusterBatch, status: Mapping[str, int]) -> str:
        """Who waits for whom, where it stands still."""
        return circle(played, status)

    def _old(self, engine: ConcurrentEngine, model: Model) -> Updated:
        """The kernels and biases of the share, and their velocities."""
        assert isinstance(engine, ShareEngine)
        return updated_share(model.of(engine.layer), engine.share)
