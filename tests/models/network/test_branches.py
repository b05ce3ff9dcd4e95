"""Branches of a network: where the delta of an output lies, and what propagations start at."""

from dataclasses import replace

import numpy as np
import pytest

from merp.models.base.shape import Pool
from merp.models.golden.golden_step import GoldenStep
from merp.models.golden.initial import parameters
from merp.models.golden.unpool import unpool
from merp.models.network.branches import beside, stored_as, undone_shape
from merp.models.network.network import Network
from merp.tools.common.shipped import open_network

SHORTCUTS = {"conv5": "conv6"}  # which are only added, by the layer that adds them
STARTS = {"conv2": "conv3", "conv7": "conv8"}  # of the sums of the layer that adds their input


@pytest.fixture(scope="module")
def network() -> Network:
    return open_network("resnet-digits")


def test_an_output_that_is_only_added_has_the_delta_of_the_sums_it_is_added_to(
    network: Network,
) -> None:
    for layer in network.layers:
        wanted = SHORTCUTS.get(layer.name, layer.name)
        assert stored_as(network, layer).name == wanted
        start = beside(network, layer)
        assert (start and start.name) == STARTS.get(layer.name)
    shortcut, adding = network.layer("conv5"), network.layer("conv6")
    assert not shortcut.shape.relu
    assert undone_shape(network, shortcut) == replace(shortcut.shape, relu=True)
    assert undone_shape(network, adding) == adding.shape


def test_it_is_that_of_the_last_of_several_that_are_only_added(network: Network) -> None:
    """conv6, without ReLU and taken by nothing but conv8, which adds it and pools."""
    layers = {layer.name: layer for layer in network.layers}
    plain = replace(layers["conv6"].shape, relu=False)
    layers["conv6"] = replace(layers["conv6"], shape=plain)
    layers["conv7"] = replace(layers["conv7"], input="conv4")
    chained = replace(network, layers=tuple(layers.values()))
    for name in ("conv5", "conv6", "conv8"):
        assert stored_as(chained, chained.layer(name)).name == "conv8"
    shape = undone_shape(chained, chained.layer("conv5"))
    assert (shape.relu, shape.pool) == (True, Pool(kind="average", window=4, stride=4))
    assert beside(chained, chained.layer("conv7")) is None


def test_deltas_in_memory_expand_to_those_of_the_sums(network: Network) -> None:
    rng = np.random.default_rng(5)
    image = rng.integers(0x3F000000, 0x3F800000, (2, 8, 8, 1)).astype(np.uint32)
    for layer in network.layers[1:]:
        step = GoldenStep(network, (layer,), image, parameters(network, 3))
        shape, delta, state = step.stored(layer)
        np.testing.assert_array_equal(
            unpool(delta, state, shape, network.fmt), step.passed(layer).sums
        )
        begun, start = step.start(layer), step.started(layer)
        assert (begun is None) == (start is None)
        if start is not None:
            expanded = unpool(start.delta, start.state, start.shape, network.fmt)
            np.testing.assert_array_equal(expanded, begun)
