"""The paper's genetic search, held against the exact front."""

from dataclasses import replace

import pytest

from merp.models.comparison.options import Options
from merp.models.explore import mazouz
from merp.models.machines.cnn_merp.explore.choices import Axes
from merp.models.machines.cnn_merp.explore.space import Space
from merp.models.network.network import Network
from merp.models.papers.mazouz.networks import CIFAR, MNIST, MNIST_SMALL, SVHN
from merp.tools.common.boards import any_board
from merp.tools.common.shipped import open_network
from needed_tools import needs

pytestmark = [pytest.mark.full, needs("pymoo")]


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize(
    ("network", "population", "points"),
    [(MNIST_SMALL, 100, 14), (MNIST, 250, 38), (SVHN, 600, 71), (CIFAR, 800, 62)],
    ids=lambda value: getattr(value, "name", None),
)
def test_the_whole_front_of_the_paper_s_networks_is_found(
    network: Network, population: int, points: int, seed: int
) -> None:
    """With the populations that are printed, in the 50 generations that are."""
    board = any_board("zc7100")
    options = Options(batch=1, scope=tuple(layer.name for layer in network.layers))
    objectives = ("cycles", "dsp")
    exact = mazouz.front(network, board, options, objectives)
    assert len(exact) == points
    found = mazouz.evolved(network, board, options, objectives, population, 50, seed)
    assert [each.costs for each in found] == [each.costs for each in exact]


def test_designs_that_are_found_are_on_the_exact_front_or_behind_it() -> None:
    network = open_network("digits")
    board = any_board("kc705")
    small = replace(board, part=replace(board.part, luts=60_000))
    space = Space(network, small, ("conv1", "conv2"), 8, "bytes")
    for name, (axes, costs) in space.designs.items():
        few = Axes(axes.n_cu, axes.p, axes.kinds, (1, 4), (1, 2))
        space.designs[name] = few, costs
    objectives = ("cycles", "lut")
    exact = [tuple(each.costs[o] for o in objectives) for each in space.front(objectives)]
    points = space.evolved(objectives, 60, 60, 1)
    found = [tuple(each.costs[o] for o in objectives) for each in points]
    assert found == sorted(found)
    for cycles, lut in found:
        assert any(c <= cycles and least <= lut for c, least in exact)
    assert len(set(found) & set(exact)) >= 0.8 * len(exact)
    again = space.evolved(objectives, 60, 60, 1)
    assert points == again
