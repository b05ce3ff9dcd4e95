"""A point of the paper's pipelines as engines: its elements are their units."""

from dataclasses import replace
from itertools import pairwise

import pytest

from merp.models.base.errors import BadInput
from merp.models.machines.cnn_merp.pipeline.elements import engines_of, with_engines
from merp.models.machines.cnn_merp.pipeline.slices import pipeline_design
from merp.models.papers.mazouz.networks import MNIST, network
from merp.tools.common.shipped import open_network

SMALL = network("mnist", 8, 1, 8, 8)


@pytest.mark.parametrize("elements", [(1, 1), (4, 2), (8, 3), (8, 8)])
def test_elements_are_the_units_of_every_engine(elements: tuple[int, ...]) -> None:
    made = with_engines(SMALL, dict(zip(("conv1", "conv2"), elements, strict=True)))
    slices = pipeline_design(made, depth=4).slices
    for units, each in zip((*elements, 10), slices, strict=True):
        engines = [each.forward, each.update, *([each.propagation] if each.propagation else [])]
        assert [engine.n_cu for engine in engines] == [units] * len(engines)


def test_what_engines_do_not_have_is_told() -> None:
    elements = {"conv1": 4, "conv2": 1, "conv3": 32}
    found = engines_of(with_engines(MNIST, elements), elements)
    assert found.at_once == {"conv2": 4, "fc": 32}
    assert "in the paper in parallel: conv2 4, fc 32" in str(found)


def test_more_elements_are_never_slower() -> None:
    points = [(1, 1), (4, 2), (8, 4), (8, 8)]
    chosen = [dict(zip(("conv1", "conv2"), point, strict=True)) for point in points]
    cycles = [engines_of(with_engines(SMALL, each), each).cycles for each in chosen]
    assert all(more < less for less, more in pairwise(cycles))


def test_what_has_no_place_in_a_pipeline() -> None:
    elements = {f"conv{place}": 1 for place in range(1, 6)}
    with pytest.raises(BadInput, match="alexnet: layer conv2: it has 2 groups: a pipeline does"):
        with_engines(open_network("alexnet"), elements)
    with pytest.raises(BadInput, match="layer conv2 is out of scope: a pipeline includes"):
        with_engines(SMALL, {"conv1": 1})
    with pytest.raises(BadInput, match="the network goes back in one pass"):
        with_engines(replace(SMALL, backward="combined"), {"conv1": 1, "conv2": 1})
