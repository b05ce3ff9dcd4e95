"""Training on the golden models against PyTorch's float32, images a second: part of ``make bench``.

One thread each, in turns, by the processor's time: what else the machine does counts less then. A
step is forward, loss, backward and update with momentum, on the same sizes; PyTorch's weights are
its own, as only time is looked at.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from time import process_time
from typing import Any

import numba
import numpy as np

from measured import Ratio
from merp.models.arithmetic.words import to_bits
from merp.models.golden.training import initial_model, rates_of, train_step
from merp.models.network.network import Layer, Network
from merp.tools.common.shipped import open_network

NETWORKS = ("digits", "lenet5", "cifar10-1x")
BATCH, RATE, MOMENTUM = 32, 0.05, 0.9
TURNS = 7
GOALS = {"trees": 5, "fused units and rows": 12}  # times slower, at most


def figures() -> Iterator[Ratio]:
    """All networks and kinds.

    Raises:
        ImportError: PyTorch is not installed.
    """
    import torch

    torch.set_num_threads(1)
    threads = numba.get_num_threads()
    numba.set_num_threads(1)
    try:
        for name in NETWORKS:
            network = open_network(name)
            theirs = _torch_step(network)
            for kind, choice in zip(GOALS, (network, _fused(network)), strict=True):
                yield _compared(name, kind, _golden_step(choice), theirs)
    finally:
        numba.set_num_threads(threads)


def _compared(
    name: str, kind: str, golden: Callable[[], None], theirs: Callable[[], None]
) -> Ratio:
    best = [float("inf")] * 2
    for turn in range(TURNS + 1):
        for index, step in enumerate((golden, theirs)):
            began = process_time()
            step()
            if turn:  # the first compiles
                best[index] = min(best[index], process_time() - began)
    speeds = " and ".join(f"{BATCH / seconds:,.0f}" for seconds in best)
    note = f"slower (goal {GOALS[kind]}): {speeds} images a second"
    return Ratio(f"training of {name}, {kind}, to PyTorch", best[0] / best[1], note)


def _fused(network: Network) -> Network:
    """The same network with fused units and sums along rows."""
    designs = {
        name: replace(design, cu_kind="fused", ku_kind="row")
        for name, design in network.designs.items()
    }
    return replace(network, designs=designs)


def _batch(network: Network) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    return rng.random((BATCH, *network.input)), np.arange(BATCH) % network.layers[-1].outputs


def _golden_step(network: Network) -> Callable[[], None]:
    images, labels = _batch(network)
    words = to_bits(images, network.fmt)
    model = initial_model(network, 0)
    rates = rates_of(RATE, BATCH, network.fmt, momentum=MOMENTUM)

    def step() -> None:
        nonlocal model
        model = train_step(network, model, words, labels, rates).model

    return step


def _torch_step(network: Network) -> Callable[[], None]:
    import torch

    images, labels = _batch(network)
    x = torch.from_numpy(images.transpose(0, 3, 1, 2).astype(np.float32).copy())
    wanted = torch.from_numpy(labels)
    torch.manual_seed(0)
    model = torch.nn.Sequential(*(part for layer in network.layers for part in _torch_layer(layer)))
    loss = torch.nn.CrossEntropyLoss()
    descent = torch.optim.SGD(model.parameters(), lr=RATE, momentum=MOMENTUM)

    def step() -> None:
        descent.zero_grad()
        loss(model(x), wanted).backward()
        descent.step()

    return step


def _torch_layer(layer: Layer) -> Iterator[Any]:
    from torch import nn

    shape, groups = layer.shape, layer.groups
    if layer.kind == "fc":
        yield nn.Flatten()
        yield nn.Linear(shape.n, shape.m)
    else:
        sizes = groups * shape.n, groups * shape.m, shape.k, shape.stride, shape.pad
        yield nn.Conv2d(*sizes, groups=groups)
    if shape.relu:
        yield nn.ReLU()
    if shape.pool:
        kind = nn.MaxPool2d if shape.pool.kind == "max" else nn.AvgPool2d
        yield kind(shape.pool.window, shape.pool.stride)
