"""Golden kernel update: order of the gradient's sum, its value and derivative, the SGD step."""

from typing import Any

import numpy as np
import pytest

import binary64
from exact import add, multiply
from golden_operands import random_words, shape_of
from merp.models.arithmetic.words import to_bits, to_values
from merp.models.base.formats import BINARY16, BINARY32, FloatFormat
from merp.models.base.rates import Rates
from merp.models.base.shape import Shape
from merp.models.golden import kernel_update
from merp.models.golden.kernel_update import bias_gradient, gradients, kernel_gradient, update
from merp.models.golden.training import rates_of
from merp.models.network.network import Layer

SMALL = FloatFormat(5, 4)
NEGATIVE = BINARY32.sign_bit

GEOMETRIES: list[tuple[Any, ...]] = [  # n, m, k, rows, columns, stride, pad
    (2, 3, 3, 4, 5, 1, 1),
    (3, 2, 3, 5, 4, 1, 0),
    (1, 2, 3, 4, 4, 1, 2),
    (2, 2, 1, 3, 4, 1, 0),
    (2, 3, 2, 5, 6, 2, 0),
    (1, 2, 5, 9, 8, 3, 4),
    (2, 1, 2, 7, 8, 3, 1),
    (7, 33, 1, 1, 1, 1, 0),  # fully connected
    (2, 2, 3, 4, 5, 1, (0, 2, 1, 0)),
    (1, 2, 4, 3, 6, 1, (3, 0, 0, 2)),
    (2, 3, 3, 6, 5, 2, (0, 1, 1, 0)),  # as "same" is where the stride divides
    (1, 2, 5, 2, 7, 3, (4, 1, 2, 3)),
    (2, 2, 2, 7, 5, 3, (1, 0, 0, 1)),  # elements between the windows
]


def operands(shape: Shape, fmt: FloatFormat, seed: int = 0, images: int = 2):
    rng = np.random.default_rng(seed)
    x = random_words(rng, (images, shape.rows, shape.columns, shape.n), fmt)
    return x, random_words(rng, (images, shape.out_rows, shape.out_columns, shape.m), fmt)


def slow_gradient(x: np.ndarray, delta: np.ndarray, shape: Shape, fmt: FloatFormat):
    result = np.zeros((shape.m, shape.n, shape.k, shape.k), np.uint32)
    for j, i, dr, dc in np.ndindex(*result.shape):
        total = 0
        for image, r, c in np.ndindex(len(x), shape.out_rows, shape.out_columns):
            row, column = r * shape.stride + dr - shape.top, c * shape.stride + dc - shape.left
            inside = 0 <= row < shape.rows and 0 <= column < shape.columns
            word = int(x[image, row, column, i]) if inside else 0
            total = add(total, multiply(word, int(delta[image, r, c, j]), fmt).word, fmt).word
        result[j, i, dr, dc] = total
    return result


@pytest.mark.sample(9)
@pytest.mark.parametrize("geometry", GEOMETRIES)
@pytest.mark.parametrize("fmt", [SMALL, BINARY32], ids=["small", "binary32"])
def test_gradient_keeps_the_order(geometry: tuple[int, ...], fmt: FloatFormat) -> None:
    shape = shape_of(geometry)
    x, delta = operands(shape, fmt)
    got = kernel_gradient(x, delta, shape, fmt)
    np.testing.assert_array_equal(got, slow_gradient(x, delta, shape, fmt))


def test_gradient_of_any_words() -> None:
    shape = Shape(n=2, m=3, k=3, rows=4, columns=4, pad=1)
    rng = np.random.default_rng(9)
    x, delta = (
        rng.integers(0, 1 << SMALL.width, words.shape, np.uint32)
        for words in operands(shape, SMALL)
    )
    np.testing.assert_array_equal(
        kernel_gradient(x, delta, shape, SMALL), slow_gradient(x, delta, shape, SMALL)
    )
    # A bias is the kernel element whose input is always one.
    ones = Shape(n=1, m=3, k=1, rows=4, columns=4)
    x = np.full((2, 4, 4, 1), SMALL.one, np.uint32)
    np.testing.assert_array_equal(
        bias_gradient(delta, SMALL), slow_gradient(x, delta, ones, SMALL).reshape(3)
    )


def test_a_gradient_in_pieces_is_the_same(monkeypatch) -> None:
    shape = Shape(n=5, m=2, k=3, rows=4, columns=4, pad=1)
    x, delta = operands(shape, BINARY16)
    whole = kernel_gradient(x, delta, shape, BINARY16)
    for chunk in (1, 2 * 9 * 32, 3 * 9 * 32):
        monkeypatch.setattr(kernel_update, "_CHUNK", chunk)
        np.testing.assert_array_equal(kernel_gradient(x, delta, shape, BINARY16), whole)


def test_gradients_add_over_image_then_row_then_column_from_positive_zero() -> None:
    shape = Shape(n=1, m=1, k=1, rows=2, columns=2)
    ones = np.full((2, 2, 2, 1), BINARY32.one, np.uint32)
    big = 2.0**24
    for values, wanted in (
        ([big, 1, 1, 1, -big, 1, 1, 1], 3),
        ([1, 1, 1, big, 1, 1, 1, -big], 4),  # 2^24 + 3 is a tie: up to 2^24 + 4
        ([big, 1, -big, 1, 0, 0, 0, 0], 1),  # columns inside rows
        ([big, 0, 1, 0, -big, 0, 1, 0], 1),  # rows inside images
    ):
        delta = to_bits(values, BINARY32).reshape(2, 2, 2, 1)
        for got in (kernel_gradient(ones, delta, shape, BINARY32), bias_gradient(delta, BINARY32)):
            assert to_values(got, BINARY32).item() == wanted
    minus = np.full((2, 2, 2, 1), NEGATIVE, np.uint32)
    assert kernel_gradient(ones, minus, shape, BINARY32).item() == 0
    assert bias_gradient(minus, BINARY32).item() == 0


@pytest.mark.parametrize("geometry", GEOMETRIES)
def test_gradient_is_within_its_bound_of_binary64(geometry: tuple[int, ...]) -> None:
    """One rounding of each product, one of each addition."""
    shape = shape_of(geometry)
    x, delta = operands(shape, BINARY32, seed=1)
    values, d = to_values(x, BINARY32), to_values(delta, BINARY32)
    kernels = np.zeros((shape.m, shape.n, shape.k, shape.k))
    exact = binary64.convolve_back(values, kernels, d, shape)
    magnitude = binary64.convolve_back(np.abs(values), kernels, np.abs(d), shape)
    roundings = 1 + 2 * shape.out_rows * shape.out_columns
    bound = roundings * 2.0**-24 * (1 + 2.0**-10)
    got = to_values(kernel_gradient(x, delta, shape, BINARY32), BINARY32)
    assert (np.abs(got - exact.kernels) <= bound * magnitude.kernels).all()
    got = to_values(bias_gradient(delta, BINARY32), BINARY32)
    assert (np.abs(got - exact.bias) <= bound * magnitude.bias).all()


@pytest.mark.parametrize("geometry", GEOMETRIES)
def test_gradient_is_the_derivative(geometry: tuple[int, ...]) -> None:
    shape = shape_of(geometry)
    x, delta = operands(shape, BINARY32, seed=2)
    values, d = to_values(x, BINARY32), to_values(delta, BINARY32)
    kernels, bias = np.zeros((shape.m, shape.n, shape.k, shape.k)), np.zeros(shape.m)

    def output() -> float:
        return float((binary64.convolve(values, kernels, bias, shape) * d).sum())

    magnitude = binary64.convolve_back(np.abs(values), kernels, np.abs(d), shape)
    bound = (1 + 2 * shape.out_rows * shape.out_columns) * 2.0**-23
    got = to_values(kernel_gradient(x, delta, shape, BINARY32), BINARY32)
    numeric = binary64.central_differences(output, kernels, 1.0)
    assert (np.abs(got - numeric) <= bound * magnitude.kernels).all()
    got = to_values(bias_gradient(delta, BINARY32), BINARY32)
    numeric = binary64.central_differences(output, bias, 1.0)
    assert (np.abs(got - numeric) <= bound * magnitude.bias).all()


def test_groups_follow_each_other() -> None:
    shape = Shape(n=2, m=3, k=3, rows=4, columns=4, pad=1)
    layer = Layer(name="conv", kind="conv", groups=2, shape=shape)
    parts = [operands(shape, BINARY32, seed) for seed in (0, 1)]
    x, delta = (np.concatenate(each, axis=-1) for each in zip(*parts, strict=True))
    kernels, biases = gradients(layer, x, delta, BINARY32)
    wanted = [kernel_gradient(*part, shape, BINARY32) for part in parts]
    np.testing.assert_array_equal(kernels, np.concatenate(wanted))
    wanted = [bias_gradient(part[1], BINARY32) for part in parts]
    np.testing.assert_array_equal(biases, np.concatenate(wanted))


@pytest.mark.parametrize("decay", [0.0, 0.07])
def test_update_rounds_each_product_and_sum(decay: float) -> None:
    rng = np.random.default_rng(0)
    w, v, g = (random_words(rng, (40,), SMALL) for _ in range(3))
    rate, momentum, decay = (int(word) for word in to_bits([0.03, 0.9, decay], SMALL))
    rates = Rates(rate=rate, momentum=momentum, weight_decay=decay)
    new, moved = update(w, v, g, rates, SMALL)
    for index in range(40):
        gradient = int(g[index])
        if decay:
            gradient = add(gradient, multiply(decay, int(w[index]), SMALL).word, SMALL).word
        speed = add(multiply(momentum, int(v[index]), SMALL).word, gradient, SMALL).word
        step = multiply(rate, speed, SMALL).word ^ SMALL.sign_bit
        assert moved[index] == speed
        assert new[index] == add(int(w[index]), step, SMALL).word


@pytest.mark.parametrize(("momentum", "decay"), [(0.9, 0.0005), (0.0, 0.01), (0.9, 0.1)])
def test_steps_on_sums_are_those_of_pytorch_on_means(momentum: float, decay: float) -> None:
    """PyTorch's SGD in binary64: g = g + wd*w; v = mu*v + g; w = w - lr*v, g being a mean.

    Every factor, product and sum here is rounded: by half an ulp, 2^-24 of what it is. The bound
    adds these up, and carries the errors of each step into the next one.
    """
    batch, rate, half = 48, 0.05, 2.0**-24 * (1 + 2.0**-10)
    rng = np.random.default_rng(1)
    rates = rates_of(rate, batch, BINARY32, momentum=momentum, weight_decay=decay)
    words = to_bits(rng.standard_normal(200), BINARY32)
    moved = np.zeros_like(words)
    w, v = to_values(words, BINARY32), np.zeros(200)  # of the mean
    w_error, v_error = np.zeros(200), np.zeros(200)
    for _ in range(30):
        sums = to_bits(rng.standard_normal(200) * batch, BINARY32)
        words, moved = update(words, moved if momentum else 0 * moved, sums, rates, BINARY32)
        penalty, kept = decay * w, momentum * v
        d = to_values(sums, BINARY32) / batch + penalty
        v = kept + d
        d_error = decay * w_error + half * (2 * abs(penalty) + abs(d))
        v_error = momentum * v_error + d_error + half * (2 * abs(kept) + abs(v))
        step = rate * v
        w = w - step
        w_error = w_error + rate * v_error + half * (2 * abs(step) + abs(w))
        bound = w_error * (1 + 2.0**-10)
        assert (abs(to_values(words, BINARY32) - w) <= bound).all()
    assert bound.max() < 2e-5 < rate * decay * abs(w).max()  # the decay of one step


def test_update_of_special_words() -> None:
    one, inf, nan = BINARY32.one, BINARY32.inf, BINARY32.nan

    def single(w: int, v: int, g: int, momentum: int = 0, decay: int = 0) -> tuple[int, int]:
        words = (np.array([each], np.uint32) for each in (w, v, g))
        rates = Rates(rate=one, momentum=momentum, weight_decay=decay)
        new, moved = update(*words, rates, BINARY32)
        return int(new[0]), int(moved[0])

    assert single(one, 0, one) == (0, one)  # 1 - 1 is +0
    assert single(one, 0, NEGATIVE) == (one, 0)  # the velocity that is read without momentum is +0
    assert single(NEGATIVE, 0, 0) == (NEGATIVE, 0)  # -0 - (+0)
    assert single(one, 0, inf) == (NEGATIVE | inf, inf)
    assert single(one, 0, nan) == (nan, nan)
    assert single(0, one, one, momentum=one) == (0xC0000000, 0x40000000)
    assert single(one, 0, one, decay=one) == (0xBF800000, 0x40000000)  # 1 - (1 + 1)
    assert single(NEGATIVE, 0, NEGATIVE, decay=one) == (NEGATIVE, 0)  # d = -0 is read as +0 + d
    assert single(NEGATIVE, NEGATIVE, NEGATIVE, one, one) == (0, NEGATIVE)  # -0 + (-0), -0 - (-0)
    assert single(inf, 0, one) == (inf, one)  # without weight decay w is not in the velocity
    assert single(inf, 0, one, decay=one) == (nan, inf)
    assert single(one, 0, one, decay=1) == (0, one)  # a subnormal factor is a zero


def test_kernel_update_refuses_what_does_not_fit() -> None:
    shape = Shape(n=2, m=3, k=3, rows=4, columns=4)
    x, delta = operands(shape, BINARY32)
    with pytest.raises(ValueError, match=r"maps must be of size \(4, 4, 2\), not \(4, 4, 1\)"):
        kernel_gradient(x[..., :1], delta, shape, BINARY32)
    with pytest.raises(ValueError, match="delta must be of size"):
        kernel_gradient(x, delta[:1], shape, BINARY32)
