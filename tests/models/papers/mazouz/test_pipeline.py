"""Designs of the paper's networks: fronts, counts, overlap; enumeration finds the same."""

from itertools import product
from math import prod

import numpy as np
import pytest
from numpy.typing import NDArray

from merp.models.base.shape import Shape
from merp.models.network.network import Layer, Network
from merp.models.papers.mazouz.enumeration import enumerated
from merp.models.papers.mazouz.networks import CIFAR, MNIST, MNIST_SMALL, NETWORKS, SVHN
from merp.models.papers.mazouz.pipeline import Pipeline
from merp.tools.common.shipped import open_network

DSPS = 2020
NAMES = [network.name for network in NETWORKS]


def pipeline(network: Network, *, train: bool = False) -> Pipeline:
    return Pipeline(network.layers, train=train)


@pytest.mark.parametrize(
    ("network", "points", "cycles", "dsps", "direct"),
    [
        (MNIST_SMALL, 14, (1458, 30_396), (28, 728), 728),
        (MNIST, 48, (2275.5, 119_124), (37, 1960), 6152),
        (SVHN, 93, (5937.5, 295_348), (64, 2004), 25_048),
        (CIFAR, 98, (11_345, 485_236), (73, 2000), 61_912),
    ],
    ids=NAMES,
)
def test_forward_fronts(network: Network, points: int, cycles, dsps, direct: int) -> None:
    found = pipeline(network).front(DSPS)
    assert len(found) == points
    assert (found[0].costs[0], found[-1].costs[0]) == cycles
    assert (found[-1].costs[1], found[0].costs[1]) == dsps
    filters = [layer.shape.m for layer in network.layers[:-1]]
    assert pipeline(network).cost(filters).dsp == direct


@pytest.mark.parametrize(
    ("network", "points", "least"),
    [(MNIST_SMALL, 14, 58), (MNIST, 38, 77), (SVHN, 71, 134), (CIFAR, 62, 153)],
    ids=NAMES,
)
def test_training_fronts(network: Network, points: int, least: int) -> None:
    found = pipeline(network, train=True).front(DSPS)
    assert (len(found), found[-1].costs[1]) == (points, least)


@pytest.mark.parametrize(
    ("network", "least", "most"),
    [
        (MNIST_SMALL, 1.40, 2.21), (MNIST, 1.46, 2.80), (SVHN, 1.75, 3.62), (CIFAR, 2.48, 4.14)
    ],
    ids=NAMES,
)  # fmt: skip
def test_overlap_of_samples(network: Network, least: float, most: float) -> None:
    whole = pipeline(network)
    cycles = [whole.cycles(point.choices) for point in whole.front(DSPS)]
    ratios = [sum(each) / max(each) for each in cycles]
    assert (min(ratios), max(ratios)) == pytest.approx((least, most), abs=0.005)


@pytest.mark.parametrize(
    ("network", "forward", "train"),
    [
        (MNIST_SMALL, (64, 64), 64),
        (MNIST, (4096, 2586), 1307),
        (SVHN, (262_144, 39_207), 9697),
        pytest.param(CIFAR, (16_777_216, 458_179), 66_057, marks=pytest.mark.full),
    ],
    ids=NAMES,
)
def test_how_many_designs_fit(network: Network, forward: tuple[int, int], train: int) -> None:
    assert fitting(pipeline(network)) == forward
    assert fitting(pipeline(network, train=True))[1] == train


def fitting(whole: Pipeline) -> tuple[int, int]:
    """All designs, and those within the DSPs."""
    _, dsps = priced(whole)
    return dsps.size, int((dsps <= DSPS).sum())


@pytest.mark.parametrize(
    "network",
    [MNIST_SMALL, MNIST, SVHN, pytest.param(CIFAR, marks=pytest.mark.full)],
    ids=NAMES,
)
@pytest.mark.parametrize("train", [False, True])
def test_the_front_is_that_of_all_designs(network: Network, train: bool) -> None:
    whole = pipeline(network, train=train)
    cycles, dsps = priced(whole)
    assert cycles.size == prod(layer.shape.m for layer in whole.convolutions)
    within = dsps <= DSPS
    cycles, dsps = cycles[within], dsps[within]
    best: list[tuple[float, int]] = []
    for place in np.lexsort((cycles, dsps)):
        if not best or cycles[place] < best[-1][0]:
            best.append((cycles[place], dsps[place]))
    assert [point.costs for point in whole.front(DSPS)] == best[::-1]
    assert enumerated(whole, DSPS) == whole.front(DSPS)


@pytest.mark.parametrize("network", [MNIST_SMALL, MNIST, SVHN], ids=NAMES[:3])
def test_logic_limits_an_enumeration_as_it_does_the_front(network: Network) -> None:
    whole = pipeline(network, train=True)
    assert enumerated(whole, DSPS, 60_000) == whole.front(DSPS, 60_000)


def priced(whole: Pipeline) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Cycles and DSPs of every design, from those of layers, which neighbours alone decide."""
    filters = [layer.shape.m for layer in whole.convolutions]
    unit = 19 if whole.train else 9
    head = (2 if whole.train else 1) * whole.layers[-1].shape.m
    cycles, dsps = np.zeros((1, 1)), np.zeros((1, 1), np.int64)
    for place, most in enumerate([*filters, 1]):
        before = filters[place - 1] if place else 1
        own_cycles = np.empty((before, most))
        own_dsps = np.empty((before, most), np.int64)
        for front, own in product(range(before), range(most)):
            design = [1] * len(filters)
            if place:
                design[place - 1] = front + 1
            if place < len(filters):
                design[place] = own + 1
            own_cycles[front, own] = whole.step_cycles(design)[place]
            per_unit = unit if place < len(filters) else head
            own_dsps[front, own] = per_unit * whole.units(design)[place]
        cycles = (cycles[:, :, None] + own_cycles).reshape(-1, most)
        dsps = (dsps[:, :, None] + own_dsps).reshape(-1, most)
    return cycles.ravel(), dsps.ravel()


def test_the_front_of_a_network_with_groups_is_that_of_all_designs() -> None:
    first = Shape(n=2, m=6, k=3, rows=8, columns=8, pad=1)
    second = Shape(n=3, m=4, k=3, rows=8, columns=8, pad=1)  # two groups
    third = Shape(n=8, m=5, k=1, rows=8, columns=8)
    layers = tuple(
        Layer(name=f"conv{place}", kind="conv", groups=groups, shape=shape)
        for place, (groups, shape) in enumerate([(1, first), (2, second), (1, third)])
    )
    whole = Pipeline(layers, train=False)
    costs = {
        (sum(whole.cycles(design)), whole.cost(design).dsp)
        for design in product(range(1, 7), range(1, 9), range(1, 6))
    }
    best = {
        one
        for one in costs
        if not any(two != one and two[0] <= one[0] and two[1] <= one[1] for two in costs)
    }
    assert {point.costs for point in whole.front(10_000)} == best


def test_logic_limits_too() -> None:
    whole = pipeline(MNIST, train=True)
    found = whole.front(DSPS, 50_000)
    assert all(point.costs[2] <= 50_000 for point in found)
    assert found[0].costs[0] > whole.front(DSPS)[0].costs[0]


def test_groups_and_strides() -> None:
    convolutions = Pipeline(open_network("alexnet").layers[:5], train=True)
    one = (1,) * 5
    assert convolutions.units(one) == [3, 1, 1, 1, 1]
    conv1, conv2, *_ = convolutions.cycles(one)
    assert conv1 == 96 * (4 + 11.5 + (220 + 22) * 220 + 220 + 242 + 22 + 9 + 5)
    assert conv2 == 2 * 128 * 48 * (5.5 + (27 + 10) * 27 + 27 + 37 + 10 + 7 + 5)
    assert convolutions.step_cycles(one)[0] == 2 * conv1
    assert convolutions.units((96, 256, 384, 384, 256))[1] == 128 * 48
