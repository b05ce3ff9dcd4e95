"""The paper's genetic search, held against the exact front."""

from __future__ import annotations

from dataclasses import replace

import pytest

from merp.models.comparison.options import Options
from merp.models.explore import mazouz
from merp.models.explore.choices import Axes
from merp.models.explore.cnn_merp import Space
from merp.models.mazouz.networks import MNIST_SMALL
from merp.tools.common.boards import any_board
from merp.tools.common.shipped import open_network
from needed_tools import needs

pytestmark = [pytest.mark.full, needs("pymoo")]


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_smallest_network_of_the_paper_s_whole_front_is_found(seed: int) -> None:
    """14 points, in at most the 50 generations that are printed."""
    board = any_board("zc7100")
    options = Options(batch=1, scope=tuple(layer.name for layer in MNIST_SMALL.layers))
    objectives = ("cycles", "dsp")
    exact = mazouz.front(MNIST_SMALL, board, options, objectives)
    assert len(exact) == 14
    found = mazouz.evolved(MNIST_SMALL, board, options, objectives, 100, 50, seed)
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
