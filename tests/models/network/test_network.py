"""The shipped networks, and what a network says of its layers."""

from dataclasses import replace

import pytest

from merp.models.base.errors import BadInput
from merp.models.machines.cnn_merp.designs import designs_of
from merp.models.machines.cnn_merp.params.sizing import MAXIMA
from merp.tools.common.shipped import open_network, shipped_names


def test_the_shipped_networks_are_those_of_the_papers() -> None:
    assert shipped_names() == [
        "alexnet", "alexnet-1group", "alexnet-avg", "alexnet-bf16", "alexnet-kernel1", "alexnet24",
        "cifar-8-16-32-64-64", "cifar10-1x", "cifar10-1x-fixed", "cifar10-2x", "cifar10-2x-fixed",
        "cifar10-4x", "cifar10-4x-fixed", "digits", "digits-bf16", "digits-fixed", "digits-small",
        "lenet5", "lenet5-tanh", "mnist-8-16-32", "mnist-8-8", "resnet-digits", "svhn-8-16-32-64",
        "tiny3", "vgg16", "vgg16-small", "vgg19", "vgg19-small",
    ]  # fmt: skip
    assert all(open_network(name).name == name for name in shipped_names())


def test_alexnet_chains_to_the_sizes_of_the_paper() -> None:
    layers = open_network("alexnet").layers
    sizes = [(x.groups, x.shape.n, x.shape.m, x.shape.k, x.shape.pooled_rows) for x in layers]
    assert sizes == [
        (1, 3, 96, 11, 27), (2, 48, 128, 5, 13), (1, 256, 384, 3, 13), (2, 192, 192, 3, 13),
        (2, 192, 128, 3, 6), (1, 9216, 4096, 1, 1), (1, 4096, 4096, 1, 1), (1, 4096, 1000, 1, 1),
    ]  # fmt: skip
    assert [x.design for x in layers] == ["k11", "k5", "k3", "k3", "k3", None, None, None]


def test_alexnet_with_average_pooling_differs_in_pooling_only() -> None:
    maximum, average = open_network("alexnet"), open_network("alexnet-avg")
    for a, b in zip(maximum.layers, average.layers, strict=True):
        assert (a.inputs, a.sums, a.outputs) == (b.inputs, b.sums, b.outputs)
        assert b.shape.pool is None or b.shape.pool.kind == "average"
    assert [d.average for d in average.designs.values()] == [True, True, True]


def test_alexnet_on_24_units_differs_in_the_number_of_units_only() -> None:
    """So its bits are alexnet's: a golden model is told the layer, the format and the summation."""
    less, more = open_network("alexnet-kernel1"), open_network("alexnet24")
    assert (more.layers, more.input, more.fmt) == (less.layers, less.input, less.fmt)
    for layer in more.layers:
        assert more.summation(layer) == less.summation(layer)
    assert {name: d.n_cu for name, d in less.designs.items()} == {"k11": 3, "k5": 16, "k3": 48}
    assert {name: d.n_cu for name, d in more.designs.items()} == {"k11": 4, "k5": 24, "k3": 64}
    for name, design in more.designs.items():
        kept = {"n_cu": less.designs[name].n_cu}
        kept |= {key: getattr(less.designs[name], key) for key in MAXIMA}
        assert replace(design, **kept) == less.designs[name]


def test_lenet_has_the_sizes_of_f_cnn_table_1() -> None:
    conv1, conv2, fc3, fc4 = (layer.shape for layer in open_network("lenet5").layers)
    rows = [x for s in (conv1, conv2) for x in (s.rows, s.out_rows)]
    assert [*rows, conv2.pooled_rows] == [28, 24, 12, 8, 4]
    assert (fc3.n, fc3.m, fc4.m) == (800, 500, 10)


@pytest.mark.parametrize(("width", "printed"), [(1, 58.71), (2, 231.2), (4, 921.4)])
def test_cifar_networks_have_the_operations_that_the_paper_measured(width, printed) -> None:
    """GOPs times seconds per epoch over 50,000 images, from tables II and III."""
    layers = open_network(f"cifar10-{width}x").layers
    step = 3 * sum(layer.operations() for layer in layers) - layers[0].operations()
    assert step / 1e6 == pytest.approx(printed, rel=0.01)
    assert [layer.shape.m for layer in layers[:-1]] == [
        width * maps for maps in (16, 16, 32, 32, 64, 64)
    ]


def test_vgg16_has_the_known_weights_and_operations() -> None:
    layers = open_network("vgg16").layers
    assert sum(layer.kernels + layer.biases for layer in layers) == 138_357_544
    assert sum(layer.operations() for layer in layers) == 30_940_528_640


def test_an_unknown_layer_is_named_with_those_that_exist() -> None:
    network = open_network("digits")
    with pytest.raises(BadInput) as error:
        network.layer("conv3")
    assert str(error.value) == (
        "digits: no layer 'conv3': allowed are conv1, conv2, fc3; did you mean conv2?"
    )


def test_a_layer_without_a_design_is_traffic_only() -> None:
    network = open_network("alexnet")
    assert network.design(network.layer("conv4")) is network.designs["k3"]
    with pytest.raises(BadInput) as error:
        network.design(network.layer("fc6"))
    assert str(error.value) == (
        "alexnet: layer fc6 has no design (traffic only): "
        "allowed are conv1, conv2, conv3, conv4, conv5"
    )


@pytest.mark.parametrize(
    ("name", "port"),
    [
        ("alexnet", 4), ("alexnet-1group", 4), ("alexnet-kernel1", 1), ("alexnet-avg", 1),
        ("alexnet-bf16", 1), ("alexnet24", 1), ("vgg16", 4), ("vgg19", 4), ("vgg16-small", 1),
        ("vgg19-small", 1),
    ],
)  # fmt: skip
def test_kernels_go_four_a_beat_where_the_papers_part_has_the_logic(name: str, port: int) -> None:
    designs = designs_of(open_network(name)).values()
    assert {design.kernel_port for design in designs} == {port}
