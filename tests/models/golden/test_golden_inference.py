"""Golden forward propagation of a network, and the parameters it starts from."""

from dataclasses import replace

import numpy as np
import pytest

from merp.models.arithmetic.words import to_bits, to_values
from merp.models.base.formats import BFLOAT16, BINARY32
from merp.models.base.shape import Pool, Shape
from merp.models.golden.inference import as_input, inference
from merp.models.golden.initial import layer_parameters, parameters
from merp.models.golden.super_layer import super_layer
from merp.models.network.network import Layer, Network

POOL = Pool(window=2, stride=2)
LAYERS = (
    Layer(name="conv1", kind="conv", shape=Shape(n=1, m=4, k=3, rows=6, columns=8, pool=POOL)),
    Layer(
        name="conv2",
        kind="conv",
        groups=2,
        shape=Shape(n=2, m=3, k=2, rows=2, columns=3, stride=1, pad=1),
    ),
    Layer(name="fc3", kind="fc", shape=Shape(n=72, m=5, k=1, rows=1, columns=1)),
    Layer(name="fc4", kind="fc", shape=Shape(n=5, m=2, k=1, rows=1, columns=1, relu=False)),
)
NETWORK = Network(name="small", input=(6, 8, 1), layers=LAYERS)


@pytest.fixture
def image() -> np.ndarray:
    return to_bits(np.random.default_rng(0).uniform(-1, 1, (2, 6, 8, 1)), BINARY32)


def test_each_layer_takes_the_output_before_it(image: np.ndarray) -> None:
    made = parameters(NETWORK, 7)
    steps = list(inference(NETWORK, image, made))
    maps = {step.layer.name: step.x for step in steps} | {"output": steps[-1].y}
    assert list(maps) == ["conv1", "conv2", "fc3", "fc4", "output"]
    np.testing.assert_array_equal(maps["conv1"], image)

    conv1 = super_layer(image, *made["conv1"], LAYERS[0].shape, BINARY32)
    np.testing.assert_array_equal(maps["conv2"], conv1)

    kernels, bias = made["conv2"]
    halves = [
        super_layer(
            conv1[..., low : low + 2],
            kernels[j * 3 : j * 3 + 3],
            bias[j * 3 : j * 3 + 3],
            LAYERS[1].shape,
            BINARY32,
        )
        for j, low in enumerate((0, 2))
    ]
    conv2 = np.concatenate(halves, axis=-1)
    assert conv2.shape == (2, 3, 4, 6)
    flat = [
        [conv2[b, r, c, i] for r in range(3) for c in range(4) for i in range(6)] for b in (0, 1)
    ]
    np.testing.assert_array_equal(maps["fc3"], np.array(flat).reshape(2, 1, 1, 72))
    assert maps["output"].shape == (2, 1, 1, 2)
    assert (to_values(maps["output"], BINARY32) != 0).all()


def test_inference_stops_when_asked(image: np.ndarray) -> None:
    made = parameters(NETWORK, 0)
    step = next(inference(NETWORK, image, made))
    assert (step.layer.name, step.y.shape) == ("conv1", (2, 2, 3, 4))


def test_wrong_input_is_refused(image: np.ndarray) -> None:
    with pytest.raises(ValueError, match=r"conv1: input must be of size \(6, 8, 1\)"):
        as_input(image[:, :5], LAYERS[0])


def test_parameters_belong_to_seed_and_layer() -> None:
    alone = layer_parameters(LAYERS[1], 3, BINARY32)
    for got, wanted in zip(parameters(NETWORK, 3)["conv2"], alone, strict=True):
        np.testing.assert_array_equal(got, wanted)
    others = [layer_parameters(LAYERS[1], 4, BINARY32), parameters(NETWORK, 3)["conv1"]]
    for kernels, _ in others:
        assert kernels.reshape(-1)[0] != alone[0].reshape(-1)[0]
    assert len(parameters(NETWORK, 3)) == len(list(parameters(NETWORK, 3))) == 4


def test_parameters_are_pinned() -> None:
    """Other numbers here change every answer that was ever given for a seed."""
    kernels, bias = layer_parameters(LAYERS[0], 0, BINARY32)
    assert [hex(word) for word in kernels.reshape(-1)[:2]] == ["0x3e1f9682", "0xbf01668f"]
    assert hex(bias[0]) == "0x39e5123c"


@pytest.mark.parametrize("fmt", [BINARY32, BFLOAT16], ids=["binary32", "bfloat16"])
def test_kernels_are_he_normal(fmt) -> None:
    layer = Layer(
        name="conv", kind="conv", groups=2, shape=Shape(n=30, m=40, k=5, rows=5, columns=5)
    )
    kernels, bias = (to_values(words, fmt) for words in layer_parameters(layer, 0, fmt))
    assert kernels.shape == (80, 30, 5, 5)
    assert kernels.std() == pytest.approx((2 / (30 * 25)) ** 0.5, rel=0.02)
    assert abs(kernels.mean()) < 0.001
    assert bias.shape == (80,)
    assert bias.std() == pytest.approx(0.01, rel=0.3)


def test_large_layers_are_the_same_numbers_as_in_one_piece() -> None:
    layer = Layer(name="fc", kind="fc", shape=Shape(n=1100, m=1000, k=1, rows=1, columns=1))
    generator = np.random.default_rng([1, *b"fc"])
    wanted = (2 / 1100) ** 0.5 * generator.standard_normal(1_100_000)
    kernels, _ = layer_parameters(layer, 1, BINARY32)
    np.testing.assert_array_equal(kernels.reshape(-1), to_bits(wanted, BINARY32))


def test_weights_of_a_linear_layer_behind_maps_channel_first() -> None:
    """The permutation that docs/training.md gives, on numbers whose sums are exact."""
    rng = np.random.default_rng(3)
    rows, columns, channels, m = 3, 4, 6, 5
    maps = rng.integers(-8, 9, (2, rows, columns, channels)).astype(np.float64)
    weight = rng.integers(-8, 9, (m, channels * rows * columns)).astype(np.float64)
    kernel = weight.reshape(m, channels, rows, columns).transpose(0, 2, 3, 1)
    kernel = kernel.reshape(m, rows * columns * channels, 1, 1)
    shape = replace(LAYERS[2].shape, relu=False)
    x = as_input(to_bits(maps, BINARY32), LAYERS[2])
    zero = np.zeros(m, np.uint32)
    got = to_values(super_layer(x, to_bits(kernel, BINARY32), zero, shape, BINARY32), BINARY32)
    flat = maps.transpose(0, 3, 1, 2).reshape(2, -1)
    np.testing.assert_array_equal(got.reshape(2, m), flat @ weight.T)
