"""Golden training: gradients of whole networks, and the step."""

from dataclasses import replace

import numpy as np
import pytest

import binary64
from marks import rows_in_full
from merp.models.arithmetic.fp_convert import fp_convert
from merp.models.arithmetic.words import to_bits, to_values
from merp.models.base.formats import BFLOAT16, BINARY32, FloatFormat
from merp.models.base.rates import PLAIN
from merp.models.base.shape import Pool, Shape
from merp.models.base.state_field import STATES
from merp.models.golden.delta import delta_layer
from merp.models.golden.inference import inference
from merp.models.golden.initial import parameters
from merp.models.golden.kernel_update import gradients, update
from merp.models.golden.loss import LOSSES, classes_of, loss, right_of
from merp.models.golden.training import (
    NoSuchFactor,
    forward,
    gradients_of,
    initial_model,
    outputs,
    propagate,
    rates_of,
    train_step,
)
from merp.models.golden.unpool import unpool
from merp.models.network.network import Layer, Network
from merp.models.traffic.closed_form import step_bytes
from merp.models.traffic.count import Count
from merp.tools.common.shipped import open_network

LABELS = np.array([2, 0])


def conv(name: str, groups: int = 1, input=None, add=None, **shape) -> Layer:
    return Layer(name=name, kind="conv", groups=groups, shape=Shape(**shape), input=input, add=add)


def full(
    name: str, n: int, m: int, use_relu: bool, slope: int = 0, tanh: bool = False, **wiring
) -> Layer:
    shape = Shape(n=n, m=m, k=1, rows=1, columns=1, relu=use_relu, slope=slope, tanh=tanh)
    return Layer(name=name, kind="fc", shape=shape, **wiring)


def leaky(slope: float) -> int:
    """The word of a slope."""
    return int(to_bits(slope, BINARY32))


MAXIMUM = Network(
    name="maximum",
    input=(9, 8, 2),
    layers=(
        conv("conv1", n=2, m=4, k=3, rows=9, columns=8, pad=1, pool=Pool(window=3, stride=2)),
        conv("conv2", 2, n=2, m=2, k=2, rows=4, columns=3, pad=1),
        conv("conv3", n=4, m=3, k=3, rows=5, columns=4, stride=2, pad=2, relu=False),
        full("fc4", 36, 5, True),
        full("fc5", 5, 3, False),
    ),
)
AVERAGE = Network(
    name="average",
    input=(10, 11, 1),
    layers=(
        conv(
            "conv1", n=1, m=4, k=3, rows=10, columns=11, stride=2, pad=1,
            pool=Pool(kind="average", window=3, stride=2),
        ),
        conv("conv2", n=4, m=4, k=2, rows=2, columns=2, pad=1,
             pool=Pool(kind="average", window=2, stride=1)),
        conv("conv3", n=4, m=3, k=2, rows=2, columns=2, relu=False,
             pool=Pool(window=1, stride=1)),
    ),
)  # fmt: skip
RESIDUAL = Network(
    name="residual",
    input=(7, 6, 2),
    layers=(
        conv("conv1", n=2, m=4, k=3, rows=7, columns=6, pad=1, pool=Pool(window=2, stride=1)),
        conv("conv2", 2, n=2, m=2, k=3, rows=6, columns=5, pad=1),
        conv("conv3", n=4, m=4, k=3, rows=6, columns=5, pad=1, add="conv1"),
        conv("conv4", n=4, m=6, k=3, rows=6, columns=5, stride=2, pad=1),
        conv("conv5", n=4, m=6, k=1, rows=6, columns=5, stride=2, relu=False, input="conv3"),
        conv("conv6", n=6, m=6, k=3, rows=3, columns=3, pad=1, input="conv4", add="conv5",
             pool=Pool(kind="average", window=3, stride=3)),
        full("fc7", 6, 6, True),
        full("fc8", 6, 6, False, add="fc7"),
        full("fc9", 6, 3, False),
        full("fc10", 6, 3, False, input="fc8", add="fc9"),
    ),
)  # fmt: skip
"""Branches and additions: of a pooled map, by a pooling layer, of the layer's own input."""
CONCATENATED = Network(
    name="concatenated",
    input=(6, 5, 2),
    layers=(
        conv("conv1", n=2, m=4, k=3, rows=6, columns=5, pad=1),
        conv("conv2", n=4, m=2, k=1, rows=6, columns=5),
        conv("conv3", 2, n=2, m=2, k=3, rows=6, columns=5, pad=1, input="conv1"),
        conv("conv4", n=6, m=3, k=3, rows=6, columns=5, pad=1, input=("conv3", "conv2"),
             pool=Pool(window=2, stride=2)),
        conv("conv5", 2, n=3, m=1, k=2, rows=6, columns=5, stride=2, relu=False,
             input=("conv3", "conv2")),
        full("fc6", 30, 4, True, input=("conv5", "conv4")),
        full("fc7", 4, 3, False),
    ),
)  # fmt: skip
"""Outputs with equal and with different ReLU and pooling, taken together; by two layers, by one."""
POOLED_TWICE = Network(
    name="pooled-twice",
    input=(7, 7, 2),
    layers=(
        conv("conv1", n=2, m=3, k=2, rows=7, columns=7, pool=Pool(window=2, stride=1)),
        Layer(
            name="pool2", kind="conv", groups=3, trainable=False, only_pools=True,
            shape=Shape(n=1, m=1, k=1, rows=5, columns=5, relu=False,
                        pool=Pool(window=3, stride=2)),
        ),
        Layer(
            name="pool3", kind="conv", groups=3, trainable=False, only_pools=True,
            shape=Shape(n=1, m=1, k=1, rows=2, columns=2, relu=False,
                        pool=Pool(kind="average", window=2, stride=2)),
        ),
        full("fc4", 3, 3, False),
    ),
)  # fmt: skip
LEAKY = Network(
    name="leaky",
    input=(9, 8, 2),
    layers=(
        conv("conv1", n=2, m=4, k=3, rows=9, columns=8, pad=1, slope=leaky(0.3),
             pool=Pool(window=3, stride=2)),
        conv("conv2", n=4, m=4, k=2, rows=4, columns=3, pad=1, slope=leaky(0.01),
             pool=Pool(kind="average", window=2, stride=1)),
        conv("conv3", n=4, m=3, k=2, rows=4, columns=3, slope=leaky(0.1), pad=1),
        full("fc4", 60, 5, True, slope=leaky(0.25)),
        full("fc5", 5, 3, False),
    ),
)  # fmt: skip
"""Slopes in front of maxima that overlap, of averages, and of no pooling."""
TANH = Network(
    name="tanh",
    input=(9, 8, 2),
    layers=(
        conv("conv1", n=2, m=4, k=3, rows=9, columns=8, pad=1, relu=False, tanh=True,
             pool=Pool(window=3, stride=2)),
        conv("conv2", n=4, m=4, k=2, rows=4, columns=3, relu=False, tanh=True),
        full("fc3", 24, 5, False, tanh=True),
        full("fc4", 5, 3, False),
    ),
)  # fmt: skip
"""Behind maxima that overlap, a convolution, and a full connection."""
NETWORKS = [MAXIMUM, AVERAGE, RESIDUAL, CONCATENATED, POOLED_TWICE, LEAKY, TANH]


def in_format(network: Network, fmt: FloatFormat) -> Network:
    """The network with another number format, also of its slopes."""
    layers = tuple(
        replace(
            layer,
            shape=replace(layer.shape, slope=int(fp_convert(layer.shape.slope, BINARY32, fmt))),
        )
        for layer in network.layers
    )
    return replace(network, layers=layers, numbers=fmt)


def images_of(network: Network, count: int = 2) -> np.ndarray:
    return to_bits(np.random.default_rng(5).uniform(-1, 1, (count, *network.input)), network.fmt)


def as_values(made, fmt=BINARY32):
    return {name: tuple(to_values(words, fmt) for words in both) for name, both in made.items()}


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("kind", "network"),
    [
        *((kind, network) for network in (MAXIMUM, AVERAGE) for kind in LOSSES),
        ("hinge", RESIDUAL),
        *(("cross-entropy", network) for network in (CONCATENATED, POOLED_TWICE, LEAKY, TANH)),
        *rows_in_full(*((kind, RESIDUAL) for kind in LOSSES if kind != "hinge")),
    ],
    ids=lambda each: getattr(each, "name", each),
)
def test_gradients_of_a_network(network: Network, kind: str) -> None:
    """Within 8 ulp of each array's largest of binary64, and near central differences."""
    made = parameters(network, 1)
    images = images_of(network)
    kept, output = forward(network, images, made)
    _, delta = loss(kind, output, LABELS, network.fmt)
    found = {
        each.layer.name: gradients_of(network, each)
        for each in propagate(network, kept, delta, made)
    }
    assert list(found) == [layer.name for layer in reversed(network.layers)]

    exact = as_values(made)
    values = to_values(images, network.fmt)
    inputs, scores = binary64.forward(network, values, exact)
    wanted = np.eye(3)[LABELS]
    outer = scores - wanted
    if kind == "cross-entropy":
        outer = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True) - wanted
    if kind == "hinge":
        sign = 2 * wanted - 1
        outer = -2 * sign * np.maximum(0, 1 - sign * scores)
    derived = binary64.backward(network, inputs, outer, exact)

    def total() -> float:
        return binary64.loss(kind, binary64.forward(network, values, exact)[1], LABELS)

    for name, (kernels, bias) in exact.items():
        pairs = (
            (found[name][0], derived[name].kernels, kernels),
            (found[name][1], derived[name].bias, bias),
        )
        for words, formula, parameter in pairs:
            got = to_values(words, network.fmt)
            largest = np.abs(formula).max()
            assert largest > 1e-3  # so that it is not a test of zeros
            np.testing.assert_allclose(got, formula, rtol=0, atol=8 * 2.0**-23 * largest)
            numeric = binary64.central_differences(total, parameter, 1e-6)
            np.testing.assert_allclose(got, numeric, rtol=0, atol=2.0**-17 * largest)


@pytest.mark.parametrize("network", [MAXIMUM, AVERAGE], ids=lambda network: network.name)
def test_backward_is_the_chain_of_its_parts_bit_for_bit(network: Network) -> None:
    made = parameters(network, 3)
    kept, output = forward(network, images_of(network), made)
    _, delta = loss("squared", output, LABELS, network.fmt)
    found = [gradients_of(network, each) for each in propagate(network, kept, delta, made)]
    for each, (layer, x, _, state) in zip(found, reversed(kept), strict=True):
        shape = layer.shape
        delta = delta.reshape(2, shape.pooled_rows, shape.pooled_columns, layer.biases)
        sums = unpool(delta, state, shape, network.fmt)
        kernels, biases = gradients(layer, x, sums, network.fmt)
        np.testing.assert_array_equal(each[0], kernels)
        np.testing.assert_array_equal(each[1], biases)
        delta = delta_layer(layer, sums, made[layer.name][0], network.fmt)


@pytest.mark.parametrize("network", NETWORKS, ids=lambda network: network.name)
def test_forward_is_that_of_inference(network: Network) -> None:
    made = parameters(network, 2)
    images = images_of(network)
    kept, output = forward(network, images, made)
    steps = list(inference(network, images, made))
    np.testing.assert_array_equal(output, steps[-1].y)
    for (layer, x, y, _), step in zip(kept, steps, strict=True):
        assert layer is step.layer
        np.testing.assert_array_equal(x, step.x)
        np.testing.assert_array_equal(y, step.y)


@pytest.mark.parametrize(
    ("network", "fmt"),
    [
        *((network, BINARY32) for network in NETWORKS),
        *((network, BFLOAT16) for network in NETWORKS if network is not TANH),  # in binary32 alone
    ],
    ids=lambda each: getattr(each, "name", None) or f"{each.width} bits",
)
def test_a_step_is_the_same_whatever_state_is_kept(network: Network, fmt) -> None:
    network = in_format(network, fmt)
    rates = rates_of(0.1, 2, fmt, momentum=0.9)
    images = images_of(network)
    models = []
    for state in STATES:
        model = initial_model(network, 0)
        for _ in range(3):
            model = train_step(network, model, images, LABELS, rates, state=state).model
        models.append(model)
    for model in models[1:]:
        for layer in network.layers:
            for part in ("parameters", "velocities"):
                both = zip(
                    getattr(model, part)[layer.name],
                    getattr(models[0], part)[layer.name],
                    strict=True,
                )
                for got, wanted in both:
                    np.testing.assert_array_equal(got, wanted)


@pytest.mark.parametrize("decay", [0.0, 0.125])
def test_a_step_updates_every_parameter_by_its_own_gradient(decay: float) -> None:
    rates = rates_of(0.25, 2, BINARY32, momentum=0.5, weight_decay=decay)
    factors = rates.rate, rates.momentum, rates.weight_decay
    assert to_values(factors, BINARY32).tolist() == [0.125, 0.5, 2 * decay]
    images = images_of(MAXIMUM)
    first = train_step(MAXIMUM, initial_model(MAXIMUM, 0), images, LABELS, rates)
    model = first.model
    second = train_step(MAXIMUM, model, images, LABELS, rates)
    after = second.model
    assert second.loss < first.loss
    kept, output = forward(MAXIMUM, images, model.parameters)
    value, delta = loss("cross-entropy", output, LABELS, BINARY32)
    assert value == second.loss
    for each in propagate(MAXIMUM, kept, delta, model.parameters):
        name = each.layer.name
        for index, gradient in enumerate(gradients_of(MAXIMUM, each)):
            new, moved = update(
                model.parameters[name][index], model.velocities[name][index], gradient,
                rates, BINARY32,
            )  # fmt: skip
            np.testing.assert_array_equal(after.parameters[name][index], new)
            np.testing.assert_array_equal(after.velocities[name][index], moved)
            assert (new != model.parameters[name][index]).any()


def test_without_momentum_the_velocity_that_is_read_is_zero() -> None:
    rates = rates_of(0.1, 2, BINARY32)
    start = initial_model(MAXIMUM, 0)
    poisoned = {
        name: tuple(np.full_like(words, BINARY32.nan) for words in both)
        for name, both in start.velocities.items()
    }
    images = images_of(MAXIMUM)
    clean = train_step(MAXIMUM, start, images, LABELS, rates).model
    start = replace(start, velocities=poisoned)
    other = train_step(MAXIMUM, start, images, LABELS, rates).model
    for name, (kernels, _) in clean.parameters.items():
        np.testing.assert_array_equal(kernels, other.parameters[name][0])


def test_rates_that_the_format_does_not_have() -> None:
    for rate in (1e-40, 1e40, 0.0):  # 0 is what a schedule comes to
        with pytest.raises(NoSuchFactor, match="over a batch of 4 the format has no such rate"):
            rates_of(rate, 4, BINARY32)
    for decay in (1e-40, 1e38, 1e308):
        with pytest.raises(NoSuchFactor, match="times a batch of 4 the format has no") as told:
            rates_of(0.1, 4, BINARY32, weight_decay=decay)
        assert told.value.name == "weight_decay"
    with pytest.raises(NoSuchFactor, match="the format has no such factor"):
        rates_of(0.1, 4, BINARY32, momentum=1e-300)
    assert rates_of(0.1, 4, BINARY32, momentum=-0.0, weight_decay=-0.0).rule == PLAIN


def test_outputs_are_those_of_inference_and_their_classes_the_largest() -> None:
    made = parameters(MAXIMUM, 0)
    images = images_of(MAXIMUM, 5)
    *_, last = inference(MAXIMUM, images, made)
    found = outputs(MAXIMUM, images, made)
    np.testing.assert_array_equal(found, last.y.reshape(5, -1))
    scores = to_values(found, BINARY32)
    np.testing.assert_array_equal(classes_of(scores), scores.argmax(axis=1))
    labels = scores.argmax(axis=1)
    labels[:2] = (labels[:2] + 1) % scores.shape[1]
    assert right_of(scores, labels) == 3


def test_bytes_of_a_step() -> None:
    found = step_bytes(open_network("digits"), 32, Count())
    maps = {"conv1": (64, 1024, 256), "conv2": (256, 512, 128), "fc3": (128, 10, 10)}
    fp = sum(x + yp for x, _, yp in maps.values())
    dp = (512 + 1024) + (10 + 512)
    ku = sum(x + y for x, y, _ in maps.values())
    assert {key: found[key] for key in ("fp", "dp", "ku")} == {
        "fp": 128 * fp, "dp": 128 * dp, "ku": 128 * ku,
    }  # fmt: skip
    assert found["step"] == 128 * (fp + dp + ku)
    assert step_bytes(open_network("digits"), 1, Count(name="all"))["momentum"] == 8 * (
        16 * 9 + 16 + 32 * 16 * 9 + 32 + 128 * 10 + 10
    )
