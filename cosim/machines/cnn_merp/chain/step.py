"""Training steps on a chain of nodes: shares of layers, links, and one run per batch."""

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
from merp.cosim.machines.training.hardware_step import WholeStep
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
        network: as for ``StepAtOnce``.
        engine: as for ``StepAtOnce``.
        more: as for ``StepAtOnce``.
        images: number of images of a step.
        depth: maximum number of images in flight.
        devices: number of nodes.
        pace: cycles per word on a link, 1 to ``MAX_PACE``.
        design: design of the chain, if it differs from ``cluster_design``'s.
        peers: simulators of one node each; None if all nodes are in one simulation.

    Raises:
        BadInput: a layer has no design, or its design does not support this number of images or a
            chain. The same error reports a depth that would deadlock, and more nodes than maps can
            feed.
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
        """Run the batch in the hardware, in one simulation or in one per node."""
        if self._peers is None:
            return super()._ran(played, array)
        return run_apart(played, array, self._engine, self._limit, self._peers, self._progress)

    def _batch(self, model: Model, golden: Step, rates: Rates) -> ClusterBatch:
        """Return the step as a run of the hardware."""
        cluster = Cluster(self._network, self._shares, self._design, rates.rule)
        return cluster_batch(cluster, model, golden, rates, self._depth, self._pace, self._stalls)

    def _whole(self, played: ClusterBatch, record: RunRecord) -> WholeStep:
        """Return the results of the step as a whole, and the words on the links."""
        crossings = tuple(played.crossings(record.outcome.status))
        return super()._whole(played, record)._replace(crossings=crossings)

    def _circle(self, played: ClusterBatch, status: Mapping[str, int]) -> str:
        """Return the cycle of waits of a deadlocked run."""
        return circle(played, status)

    def _old(self, engine: ConcurrentEngine, model: Model) -> Updated:
        """Return the kernels and biases of the share, and their velocities."""
        assert isinstance(engine, ShareEngine)
        return updated_share(model.of(engine.layer), engine.share)
