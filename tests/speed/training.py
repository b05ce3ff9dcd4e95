"""Training on the golden models against PyTorch's float32, images a second: part of ``make bench``.

Both take turns, with one thread each and with two each. One thread is measured in processor time:
other work on the machine counts less then. Two threads are measured in wall time. A step is
forward, loss, backward and update with momentum, on the same sizes. PyTorch has weights of its own,
because only time is compared.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from time import perf_counter, process_time
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
WARM_UP, TURNS = 2.0, 7  # seconds, in which everything gets compiled, and steps after them
GOALS = {"trees": 2, "fused units and rows": 6}  # times slower, at most
CLOCKS = {1: process_time, 2: perf_counter}  # by threads


def figures() -> Iterator[Ratio]:
    """All networks and kinds.

    Raises:
        ImportError: PyTorch is not installed.
    """
    import torch

    before = numba.get_num_threads()
    try:
        for name in NETWORKS:
            network = open_network(name)
            theirs = _torch_step(network)
            for kind, choice in zip(GOALS, (network, _fused(network)), strict=True):
                golden = _golden_step(choice)
                for threads in CLOCKS:
                    if threads > numba.config.NUMBA_NUM_THREADS:
                        continue
                    torch.set_num_threads(threads)
                    numba.set_num_threads(threads)
                    yield _compared(f"{name}, {kind}", kind, threads, golden, theirs)
    finally:
        numba.set_num_threads(before)


def _compared(
    what: str, kind: str, threads: int, golden: Callable[[], None], theirs: Callable[[], None]
) -> Ratio:
    for step in (golden, theirs):
        began = perf_counter()
        while perf_counter() - began < WARM_UP:
            step()
    clock, best = CLOCKS[threads], [float("inf")] * 2
    for _ in range(TURNS):
        for index, step in enumerate((golden, theirs)):
            began = clock()
            step()
            best[index] = min(best[index], clock() - began)
    speeds = " and ".join(f"{BATCH / seconds:,.0f}" for seconds in best)
    note = f"slower (goal {GOALS[kind]}): {speeds} images a second"
    each = "thread" if threads == 1 else "threads"
    return Ratio(f"training of {what}, {threads} {each}, to PyTorch", best[0] / best[1], note)


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
