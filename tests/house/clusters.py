"""Small networks on chains of nodes, and batches to train them on."""

from pathlib import Path
from random import Random
from typing import Any

import numpy as np
from pipelines import random_network
from trained import Trained, network_of, train_on

from merp.cosim.machines.cnn_merp.chain.batch import ClusterBatch, cluster_batch
from merp.cosim.machines.cnn_merp.chain.cluster import Cluster
from merp.cosim.machines.cnn_merp.chain.processes import BoardProcesses
from merp.cosim.machines.cnn_merp.chain.step import ClusterStep
from merp.models.arithmetic.words import to_bits
from merp.models.golden.training import initial_model, rates_of, train_step
from merp.models.machines.cnn_merp.chain.cut import cut
from merp.models.machines.cnn_merp.chain.shares import cluster_design
from merp.models.network.network import Network
from network_text import layer, max_pool, network_text

CUT = network_text(
    "cut",
    (4, 6, 1),
    layer("conv1", 3, kernel=3, pad=1, design="k3"),
    layer("conv2", 2, kernel=3, pad=1, pool=max_pool(2, 2), design="k3"),
    layer("fc3", 2, relu=False, design="full"),
    designs={"k3": {"k": 3, "n_cu": 2, "r": 1}, "full": {"k": 1, "n_cu": 2, "r": 1}},
)


def small_cut(folder: Path) -> Network:
    """Three layers that train in seconds; the second has three input maps to cut between."""
    return network_of(folder, CUT)


def train(
    network: Network,
    images: int,
    devices: int,
    engine: str = "myhdl",
    *,
    depth: int = 4,
    pace: int = 1,
    stalls: Any = None,
    design: Any = None,
    processes: bool = False,
    **more: Any,
) -> Trained:
    """Train on random images on so many nodes; ``more``: as of ``train_on``."""
    hardware = ClusterStep(
        network, images, depth, engine, devices=devices, pace=pace, stalls=stalls, design=design,
        peers=BoardProcesses() if processes else None, limit=4000,
    )  # fmt: skip
    return train_on(hardware, network, images, **more)


def batch_on(
    network: Network, devices: int, images: int = 2, pace: int = 3, momentum: float = 0.0
) -> ClusterBatch:
    """A batch of random images on so many nodes, two of them on their way."""
    rng = np.random.default_rng(1)
    rates = rates_of(0.1, images, network.fmt, momentum=momentum)
    model, shares = initial_model(network, 3), cut(network, devices)
    x = to_bits(rng.uniform(0, 1, (images, *network.input)), network.fmt)
    labels = rng.integers(0, 2, images)
    step = train_step(network, model, x, labels, rates, state="pooled", pooled=True)
    cluster = Cluster(network, shares, cluster_design(network, shares, 2), rates.rule)
    return cluster_batch(cluster, model, step, rates, 2, pace)


def random_cut(folder: Path, rng: Random) -> tuple[Network, int]:
    """A network of one to three layers of odd sizes and kinds, and nodes for it."""
    network = random_network(folder, rng)
    convolutions = network.layers[:-1]
    most = 1 + sum(layer.shape.n for layer in convolutions[1:]) + bool(convolutions)
    return network, rng.randint(1, min(4, most if convolutions else 1))
