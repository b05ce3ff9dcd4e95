"""Which outputs go where, against its definition layer by layer."""

import pytest

from merp.models.base.errors import BadInput
from merp.models.base.shape import Shape
from merp.models.network.branches import adder, misplaced, previous, takers
from merp.models.network.network import Layer, Network
from merp.tools.common.shipped import open_network


def layer(name: str, **feeds: str) -> Layer:
    return Layer(name=name, kind="conv", shape=Shape(n=1, m=1, k=1, rows=1, columns=1), **feeds)


def names(layers: tuple[Layer, ...]) -> list[str]:
    return [each.name for each in layers]


def test_a_residual_network() -> None:
    network = open_network("resnet-digits")
    assert {
        each.name: (front and front.name, names(takers(network, each)), adds and adds.name)
        for each in network.layers
        for front, adds in [(previous(network, each), adder(network, each))]
    } == {
        "conv1": (None, ["conv2"], "conv3"),
        "conv2": ("conv1", ["conv3"], None),
        "conv3": ("conv2", ["conv4", "conv5"], None),
        "conv4": ("conv3", ["conv6"], None),
        "conv5": ("conv3", [], "conv6"),
        "conv6": ("conv4", ["conv7"], "conv8"),
        "conv7": ("conv6", ["conv8"], None),
        "conv8": ("conv7", ["fc9"], None),
        "fc9": ("conv8", [], None),
    }


def test_a_chain_of_thousands_is_not_compared_layer_by_layer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Comparing shapes for each pair of layers made minutes of what takes a second."""
    network = Network(
        name="", input=(1, 1, 1), layers=tuple(layer(f"conv{n}") for n in range(2000))
    )

    def compared(*_: object) -> bool:
        raise AssertionError

    monkeypatch.setattr(Layer, "__eq__", compared)
    assert misplaced(network.layers) is None
    assert [names(takers(network, each)) for each in network.layers[-3:]] == [
        ["conv1998"], ["conv1999"], [],
    ]  # fmt: skip


def test_a_layer_that_takes_the_output_of_none_is_told() -> None:
    layers = layer("conv1"), layer("conv2", input="conv3")
    with pytest.raises(BadInput, match="no layer 'conv3': allowed are conv1, conv2"):
        previous(Network(name="net", input=(1, 1, 1), layers=layers), layers[0])
