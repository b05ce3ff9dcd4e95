import random

import numpy as np
import pytest

from merp.models.base.shape import Pool, Shape
from merp.models.machines.cnn_merp.designs import design_of
from merp.models.machines.cnn_merp.params.sizing import size_design
from merp.models.machines.cnn_merp.traffic import counter
from merp.models.network.network import Layer
from merp.models.traffic import pass_words
from merp.models.traffic.strategies import LEVELS, staircase
from merp.tools.common.shipped import open_network

DIRECTED = (
    Shape(n=1, m=1, k=1, rows=1, columns=1),
    Shape(n=3, m=5, k=3, rows=6, columns=5, pad=2),  # rows of padding only, on either side
    Shape(n=2, m=3, k=2, rows=7, columns=8, stride=3),  # the last row and columns are not used
    Shape(n=2, m=2, k=5, rows=2, columns=3, pad=4),  # maps smaller than the kernel
    Shape(n=2, m=4, k=3, rows=9, columns=7, pad=1, pool=Pool(window=3, stride=2)),
    Shape(n=1, m=2, k=2, rows=9, columns=9, pool=Pool(window=4, stride=1)),
    Shape(n=1, m=2, k=1, rows=9, columns=8, pool=Pool(window=2, stride=3)),
    Shape(n=1, m=2, k=1, rows=9, columns=8, pool=Pool(window=3, stride=2, pad=1)),
    Shape(n=1, m=1, k=1, rows=1, columns=2, pool=Pool(window=5, stride=4, pad=3)),
    Shape(n=1, m=2, k=1, rows=6, columns=5, pool=Pool(window=3, stride=1, pad=(2, 1, 0, 2))),
    Shape(n=1, m=1, k=1, rows=2, columns=1, pool=Pool(window=5, stride=2, pad=4)),
    Shape(n=70, m=9, k=1, rows=1, columns=1),
)


def sides(draw: random.Random, k: int) -> tuple[int, int, int, int]:
    top, left, bottom, right = (draw.randrange(k) for _ in range(4))
    return top, left, bottom, right


def random_shape(seed: int) -> Shape:
    draw = random.Random(seed)
    while True:
        k = draw.randint(1, 5)
        window, stride = draw.randint(1, 3), draw.randint(1, 3)
        around = draw.choice([0, sides(draw, window)])
        pool = Pool(window=window, stride=stride, pad=around)
        try:
            return Shape(
                n=draw.randint(1, 5), m=draw.randint(1, 9), k=k, rows=draw.randint(1, 10),
                columns=draw.randint(1, 10), stride=draw.randint(1, k + 2),
                pad=draw.choice([draw.randint(0, k - 1), sides(draw, k)]),
                pool=draw.choice([None, pool]),
            )  # fmt: skip
        except ValueError:
            continue


SHAPES = [*DIRECTED, *(random_shape(seed) for seed in range(60))]


@pytest.mark.parametrize("index", range(len(SHAPES)))
def test_the_walk_equals_the_closed_form(index: int) -> None:
    shape = SHAPES[index]
    design = size_design([shape], n_cu=1 + index % 4, r=1, d=1 + index % 2)
    words = counter.port_words(shape, 3, design)
    assert words == pass_words.port_words(shape, 3)
    larger = size_design([shape], k=shape.k + 1 + index % 3, n_cu=1 + index % 4, r=1)
    assert counter.port_words(shape, 3, larger) == words
    layer = Layer(name="conv1", kind="conv", shape=shape)
    for step in staircase(layer, 1):
        found = counter.walk(shape, step.level, design.n_cu)
        kernels = step.kernel_words or shape.n * shape.m * shape.k**2
        assert (found.maps, found.kernels) == (step.map_words, kernels)
        assert found.sums == step.partial_words + step.sum_words


@pytest.mark.sample(2)
@pytest.mark.parametrize("name", ["conv1", "conv2", "conv3", "conv4", "conv5"])
def test_the_walk_of_alexnet(name: str) -> None:
    network = open_network("alexnet")
    layer = network.layer(name)
    design = design_of(network, layer)
    assert counter.port_words(layer.shape, 128, design) == pass_words.port_words(layer.shape, 128)
    for step in staircase(layer, 1):
        found = counter.walk(layer.shape, step.level, design.n_cu)
        kernels = step.kernel_words or layer.kernels
        assert (layer.groups * found.maps, layer.groups * found.kernels) == (
            step.map_words, kernels
        )  # fmt: skip
        assert layer.groups * found.sums == step.partial_words + step.sum_words


def test_fewer_than_k_rows_on_chip_cost_a_second_fetch() -> None:
    """The walk's ring is a memory, not a formula: too small a ring shows."""
    shape = Shape(n=2, m=3, k=3, rows=6, columns=7, pad=1)
    geometry = [2, 3, 3, 6, 7, 1, 1, 1, 9, 6, 7, 6, 7, 1, 1, 0, 0]
    level = len(LEVELS) - 1
    maps, *_ = counter._walk(np.array(geometry), level, 2, 2, 1, True, True, False, 0)
    assert maps > pass_words.port_words(shape, 1)["map_in"]


@pytest.mark.parametrize("elements", [1, 8, 9, 10, 35])
def test_what_fills_up_a_folded_layer_is_not_counted(elements: int) -> None:
    shape = Shape(n=elements, m=5, k=1, rows=1, columns=1)
    design = size_design([shape], k=3, n_cu=2, r=1)
    assert counter.port_words(shape, 4, design) == pass_words.port_words(shape, 4)
