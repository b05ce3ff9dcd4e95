"""Traffic of the backward phases: the walked schedule against the formulae, port by port."""

from __future__ import annotations

import pytest

from merp.models.cnn_merp.phases import delta_design, maps_behind, update_design
from merp.models.network.network import Network
from merp.models.network.phases import previous
from merp.models.traffic.backward_counter import delta_words, update_words
from merp.models.traffic.closed_form import network_traffic
from merp.models.traffic.footing import Footing
from merp.tools.common.shipped import open_network

NETWORKS = ("alexnet", "alexnet-avg", "alexnet24", "lenet5", "digits", "cifar10-1x")


def layers(name: str) -> tuple[Network, list[int]]:
    network = open_network(name)
    return network, [i for i, layer in enumerate(network.layers) if layer.design]


@pytest.mark.parametrize("before", [False, True], ids=["sums", "pooled"])
@pytest.mark.parametrize("name", NETWORKS)
def test_delta_propagation(name: str, before: bool) -> None:
    network, designed = layers(name)
    images = 3
    formula = network_traffic(
        network, images, Footing(name="full", state="pooled" if before else "1")
    )
    paper = network_traffic(network, images)
    for index in designed:
        layer = network.layers[index]
        earlier = previous(network, layer)
        if earlier is None:
            assert formula[index].dp is None
            continue
        unpooled, maps = (
            (layer.shape, layer.shape.m) if before
            else (earlier.shape, maps_behind(layer.shape, earlier.shape))
        )  # fmt: skip
        engine = delta_design(network, layer, before).engine
        walked = delta_words(layer.shape, unpooled, maps, images, engine, before)
        dp = formula[index].dp
        assert dp is not None
        word = network.word_bytes
        for port in ("delta_in", "delta_out", "kernel"):
            assert walked[port] * layer.groups * word == dp.streams[port], (layer.name, port)
        if before:
            # Bytes are filled up once per pass.
            assert 0 <= walked["state_in"] * layer.groups - dp.streams["state_in"] < layer.groups
        else:
            seen = paper[index].dp
            assert seen is not None
            maps_moved = walked["delta_in"] + walked["delta_out"]
            assert maps_moved * layer.groups * word == seen.bytes


@pytest.mark.parametrize("name", NETWORKS)
def test_kernel_update(name: str) -> None:
    network, designed = layers(name)
    formula = network_traffic(network, 2, Footing(name="full", state="1"))
    for index in designed:
        layer = network.layers[index]
        walked = update_words(layer.shape, 2, update_design(network, layer))
        for port, words in walked.items():
            moved = words * layer.groups * network.word_bytes
            assert moved == formula[index].ku.streams[port], (layer.name, port)
