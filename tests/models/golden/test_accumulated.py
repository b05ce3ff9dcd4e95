"""Golden steps of several minibatches: one update by the sum of their gradients."""

import numpy as np
import pytest

import binary64
from merp.models.arithmetic.fp_add import fp_add
from merp.models.arithmetic.words import to_bits, to_values
from merp.models.base.formats import BINARY32
from merp.models.base.rates import Rates
from merp.models.base.shape import Pool, Shape
from merp.models.golden.accumulated import (
    AccumulatedStep,
    accumulated_step,
    minibatches,
    run_minibatches,
)
from merp.models.golden.kernel_update import update
from merp.models.golden.loss import loss
from merp.models.golden.training import (
    Model,
    forward,
    gradients_of,
    initial_model,
    propagate,
    rates_of,
    train_step,
)
from merp.models.network.network import Layer, Network

FIRST = Shape(n=2, m=3, k=3, rows=6, columns=5, pad=1, pool=Pool(window=2, stride=2))
NETWORK = Network(
    name="small",
    input=(6, 5, 2),
    layers=(
        Layer(name="conv1", kind="conv", shape=FIRST),
        Layer(name="fc2", kind="fc", shape=Shape(n=18, m=4, k=1, rows=1, columns=1)),
        Layer(name="fc3", kind="fc", shape=Shape(n=4, m=3, k=1, rows=1, columns=1, relu=False)),
    ),
)
DICE = np.random.default_rng(8)
IMAGES = to_bits(DICE.uniform(-1, 1, (12, *NETWORK.input)), BINARY32)
LABELS = DICE.integers(0, 3, 12)
START = initial_model(NETWORK, 2)


def rates(images: int) -> Rates:
    return rates_of(0.25, images, BINARY32, momentum=0.5, weight_decay=0.125)


def accumulated(count: int, images: int, network: Network = NETWORK) -> AccumulatedStep:
    """A step of some minibatches, with so many images in all."""
    found = run_minibatches(network, START, IMAGES[:images], LABELS[:images], count)
    return accumulated_step(network, START, found, rates(images))


def same(one: Model, other: Model) -> bool:
    return all(
        np.array_equal(a, b)
        for part in ("parameters", "velocities")
        for name, pair in getattr(one, part).items()
        for a, b in zip(pair, getattr(other, part)[name], strict=True)
    )


def gradients(images: np.ndarray, labels: np.ndarray) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Gradients of a batch of the first model."""
    kept, output = forward(NETWORK, images, START.parameters)
    _, delta = loss("cross-entropy", output, labels, BINARY32)
    passed = propagate(NETWORK, kept, delta, START.parameters)
    return {each.layer.name: gradients_of(NETWORK, each) for each in passed}


def test_two_gradients_are_added_and_used_once() -> None:
    """Two minibatches of two images, with the rates of four, by hand."""
    found = accumulated(2, 4)
    first, second = (gradients(IMAGES[at], LABELS[at]) for at in (slice(0, 2), slice(2, 4)))
    for name in START.parameters:
        for part in range(2):  # kernels, biases
            total = fp_add(first[name][part], second[name][part], BINARY32)
            old, still = START.parameters[name][part], START.velocities[name][part]
            new, moved = update(old, still, total, rates(4), BINARY32)
            np.testing.assert_array_equal(found.model.parameters[name][part], new)
            np.testing.assert_array_equal(found.model.velocities[name][part], moved)
            assert (new != old).any()


def test_gradients_are_added_in_the_order_of_the_minibatches() -> None:
    found = accumulated(4, 12).model
    each = [gradients(*some) for some in minibatches(IMAGES, LABELS, 4)]

    def after(order: list[int], name: str) -> np.ndarray:
        total = each[order[0]][name][0]
        for index in order[1:]:
            total = fp_add(total, each[index][name][0], BINARY32)
        old, still = START.parameters[name][0], START.velocities[name][0]
        return update(old, still, total, rates(12), BINARY32)[1]

    for name in START.parameters:
        np.testing.assert_array_equal(found.velocities[name][0], after([0, 1, 2, 3], name))
    assert any(
        (found.velocities[name][0] != after([3, 2, 1, 0], name)).any() for name in START.parameters
    )


def test_one_minibatch_is_a_step() -> None:
    found = accumulated(1, 4)
    step = train_step(NETWORK, START, IMAGES[:4], LABELS[:4], rates(4))
    assert same(found.model, step.model)
    assert (found.loss, found.right) == (step.loss, step.right)


def test_the_sum_is_the_gradient_of_a_large_batch_within_rounding() -> None:
    """Without decay, the velocity of a first step is the gradient."""
    plain = rates_of(0.25, 12, BINARY32, momentum=0.5)
    found = accumulated_step(
        NETWORK, START, run_minibatches(NETWORK, START, IMAGES, LABELS, 3), plain
    )
    whole = train_step(NETWORK, START, IMAGES, LABELS, plain)
    assert not same(found.model, whole.model)
    assert found.loss == pytest.approx(whole.loss, rel=1e-14)
    assert found.right == whole.right
    exact = {
        name: tuple(to_values(words, BINARY32) for words in pair)
        for name, pair in START.parameters.items()
    }
    kept, scores = binary64.forward(NETWORK, to_values(IMAGES, BINARY32), exact)
    shares = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    derived = binary64.backward(NETWORK, kept, shares - np.eye(3)[LABELS], exact)
    for name, (kernels, biases) in found.model.velocities.items():
        for words, formula in ((kernels, derived[name].kernels), (biases, derived[name].bias)):
            largest = np.abs(formula).max()
            assert largest > 1e-3  # so that it is not a test of zeros
            got = to_values(words, BINARY32)
            np.testing.assert_allclose(got, formula, rtol=0, atol=8 * 2.0**-23 * largest)


def test_frozen_layers_keep_their_words() -> None:
    first, *others = NETWORK.layers
    frozen = Network(
        name="frozen",
        input=NETWORK.input,
        layers=(Layer(name="conv1", kind="conv", shape=first.shape, trainable=False), *others),
    )
    found, thawed = accumulated(2, 4, frozen).model, accumulated(2, 4).model
    assert found.parameters["conv1"] is START.parameters["conv1"]
    for name in ("fc2", "fc3"):
        np.testing.assert_array_equal(found.parameters[name][0], thawed.parameters[name][0])


def test_images_that_do_not_divide() -> None:
    with pytest.raises(ValueError, match="12 images do not divide into 5 minibatches"):
        list(minibatches(IMAGES, LABELS, 5))
