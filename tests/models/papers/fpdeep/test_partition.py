"""The cut in whole maps and whole units: the specification's table, and every cut enumerated."""

import random
from bisect import bisect_left
from collections.abc import Sequence
from functools import cache
from itertools import combinations_with_replacement, pairwise

import pytest

from merp.models.base.shape import Shape
from merp.models.network.network import Layer, Network
from merp.models.papers.fpdeep.partition import partition
from merp.models.papers.fpdeep.stage import LayerStage, stages
from merp.models.papers.networks import alexnet, vgg
from merp.tools.common.shipped import open_network

DSPS = 2880
CLUSTERS = (3, 5, 15, 30, 40, 60, 85)
IDLE = [
    (alexnet(1), (3.1, 1.8, 2.2, 6.2, 8.0, 8.0, 13.4)),
    (alexnet(2), (2.2, 2.7, 3.0, 3.3, 4.5, 10.6, 7.6)),
    (vgg(16), (1.7, 0.6, 1.4, 1.9, 2.5, 2.5, 4.7)),
    (vgg(19), (1.3, 1.5, 1.3, 1.5, 1.5, 2.1, 1.5)),
]
NAMES = [network.name for network, _ in IDLE]


@pytest.mark.parametrize(("network", "percent"), IDLE, ids=NAMES)
def test_idle_shares_of_what_can_be_built(network: Network, percent: tuple[float, ...]) -> None:
    some = stages(network, network.layers)
    found = [100 * partition(some, nodes, DSPS).idle for nodes in CLUSTERS]
    assert found == pytest.approx(percent, abs=0.051)


def test_no_board_lets_the_planner_cut_tiny3_as_the_hardware_does() -> None:
    """Half of conv2 on each of the first two boards, fc3 on the third (decision 22)."""
    network = open_network("tiny3")
    some = stages(network, network.layers)
    found = set()
    for dsps in range(27, 2881, 3):
        pieces = partition(some, 3, dsps).pieces
        found.add(tuple((each.stage.layer.name, each.node, float(each.end)) for each in pieces))
    assert (("conv1", 0, 1), ("conv2", 1, 0.5), ("conv2", 2, 1), ("fc3", 2, 1)) in found
    assert (("conv1", 0, 1), ("conv2", 0, 0.25), ("conv2", 1, 1), ("fc3", 2, 1)) in found
    assert (("conv1", 0, 1), ("conv2", 0, 0.5), ("conv2", 1, 1), ("fc3", 2, 1)) not in found


@pytest.mark.parametrize("network", [vgg(16), vgg(19)], ids=["vgg16", "vgg19"])
def test_vgg_idles_below_5_percent(network: Network) -> None:
    some = stages(network, network.layers)
    assert max(partition(some, nodes, DSPS).idle for nodes in (*CLUSTERS, 7, 22, 50)) < 0.05


@pytest.mark.full
@pytest.mark.parametrize("network", [vgg(16), vgg(19)], ids=["vgg16", "vgg19"])
def test_vgg_idles_below_5_percent_from_5_to_85(network: Network) -> None:
    some = stages(network, network.layers)
    assert max(partition(some, nodes, DSPS).idle for nodes in range(5, 86)) < 0.05


def test_more_boards_are_never_slower() -> None:
    network = alexnet(1)
    some = stages(network, network.layers)
    intervals = [partition(some, nodes, DSPS).interval for nodes in range(1, 86)]
    assert intervals == sorted(intervals, reverse=True)


def chain(draw: random.Random, longest: int = 4, most: int = 6) -> tuple[LayerStage, ...]:
    """Of layers of at most ``most`` maps."""
    layers, n = [], draw.randint(1, most)
    for place in range(draw.randint(1, longest)):
        m, k = draw.randint(1, most), draw.randint(1, 3)
        rows = draw.randint(k, 7)
        shape = Shape(n=n, m=m, k=k, rows=rows, columns=rows, pad=draw.randint(0, k - 1))
        layers.append(Layer(name=f"conv{place}", kind="conv", shape=shape))
        n = m
    network = Network(name="chain", input=(7, 7, n), layers=tuple(layers))
    return stages(network, network.layers)


def fastest(some: Sequence[LayerStage], nodes: int, dsps: int) -> int | None:
    """The least interval of any cut of the chain of maps, all of them tried."""
    maps = [stage for stage in some for _ in range(stage.maps)]
    found = []

    @cache
    def of_node(begin: int, end: int) -> int | None:
        return slowest(maps[begin:end], dsps)

    for ends in combinations_with_replacement(range(len(maps) + 1), nodes - 1):
        slow = [of_node(*pair) for pair in pairwise((0, *ends, len(maps)))]
        if None not in slow:
            found.append(max(each for each in slow if each is not None))
    return min(found, default=None)


def slowest(maps: Sequence[LayerStage], dsps: int) -> int | None:
    """The least interval of a node with these maps; None if it has none."""
    counts = {stage: maps.count(stage) for stage in maps}
    intervals = range(1, max((stage.macs for stage in maps), default=0) + 2)

    def fits(interval: int) -> bool:
        return sum(stage.dsps(count, interval) for stage, count in counts.items()) <= dsps

    place = bisect_left(intervals, True, key=fits)
    return intervals[place] if place < len(intervals) else None


def test_no_cut_is_faster() -> None:
    draw, fitted = random.Random(1), 0
    for _ in range(60):
        some, nodes = chain(draw, longest=3, most=3), draw.randint(1, 3)
        dsps = draw.choice((20, 40, 60, 90))
        best = fastest(some, nodes, dsps)
        if best is None:
            with pytest.raises(ValueError, match="does not fit"):
                partition(some, nodes, dsps)
            continue
        cut = partition(some, nodes, dsps)
        assert cut.interval == best
        fitted += 1
        for node in range(nodes):
            assert sum(piece.dsps for piece in cut.pieces if piece.node == node) <= dsps
        for stage in some:
            assert sum(piece.share for piece in cut.pieces if piece.stage == stage) == 1
    assert fitted > 20


@pytest.mark.full
def test_no_cut_is_faster_of_500() -> None:
    draw = random.Random(2)
    for _ in range(500):
        some, nodes = chain(draw), draw.randint(1, 4)
        dsps = draw.choice((40, 60, 90, 150))
        best = fastest(some, nodes, dsps)
        if best is not None:
            assert partition(some, nodes, dsps).interval == best
