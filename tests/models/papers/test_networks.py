import pytest

from merp.models.network.network import Network
from merp.models.papers.networks import alexnet, vgg
from merp.tools.common.shipped import open_network

SHIPPED = [alexnet(1), alexnet(2), vgg(16), vgg(19)]


@pytest.mark.parametrize("network", SHIPPED, ids=lambda network: network.name)
def test_layers_are_those_of_the_files(network: Network) -> None:
    shipped = [layer for layer in open_network(network.name).layers if layer.kind == "conv"]
    assert [(layer.groups, layer.shape) for layer in network.layers] == [
        (layer.groups, layer.shape) for layer in shipped
    ]


@pytest.mark.parametrize(
    ("network", "gmac", "mega_weights", "mega_inputs"),
    [
        (alexnet(1), 1.0766, 3.746, 0.394),
        (alexnet(2), 0.6658, 2.333, 0.394),
        (vgg(16), 15.3466, 14.710, 9.082),
        (vgg(19), 19.5084, 20.019, 10.386),
    ],
    ids=lambda value: getattr(value, "name", None),
)
def test_sizes(network: Network, gmac: float, mega_weights: float, mega_inputs: float) -> None:
    layers = network.layers
    assert sum(layer.operations() for layer in layers) / 2e9 == pytest.approx(gmac, abs=5e-5)
    assert sum(layer.kernels for layer in layers) / 1e6 == pytest.approx(mega_weights, abs=5e-4)
    assert sum(layer.inputs for layer in layers) / 1e6 == pytest.approx(mega_inputs, abs=5e-4)
