"""Golden delta propagation: its order in plain Python, its value in binary64, its derivative."""

from itertools import product
from typing import Any

import numpy as np
import pytest

import binary64
from exact import add, multiply
from golden_operands import random_words, shape_of, tree
from marks import few
from merp.models.arithmetic.words import to_bits, to_values
from merp.models.base.formats import BINARY16, BINARY32, FloatFormat
from merp.models.base.shape import Shape
from merp.models.base.summation import Summation
from merp.models.golden.convolution import convolution
from merp.models.golden.delta import delta_convolution, delta_layer, spread, swapped
from merp.models.network.network import Layer

SMALL = FloatFormat(5, 4)
NEGATIVE = BINARY32.sign_bit

GEOMETRIES: list[tuple[Any, ...]] = [  # n, m, k, rows, columns, stride, pad
    (2, 3, 3, 4, 5, 1, 1),
    (3, 2, 3, 5, 4, 1, 0),
    (1, 2, 3, 4, 4, 1, 2),  # no border of zeros
    (2, 2, 1, 3, 4, 1, 0),
    (2, 3, 2, 5, 6, 2, 0),  # a row that no window reaches
    (2, 2, 3, 7, 8, 2, 1),  # a column that no window reaches
    (1, 2, 5, 9, 8, 3, 4),
    (2, 1, 2, 7, 8, 3, 1),  # elements between the windows
    (3, 2, 1, 4, 5, 2, 0),
    (17, 2, 2, 3, 3, 1, 1),
    (7, 33, 1, 1, 1, 1, 0),  # fully connected
    (2, 2, 3, 4, 5, 1, (0, 2, 1, 0)),
    (1, 2, 4, 3, 6, 1, (3, 0, 0, 2)),
    (2, 3, 3, 6, 5, 2, (0, 1, 1, 0)),  # as "same" is where the stride divides
    (1, 2, 5, 2, 7, 3, (4, 1, 2, 3)),
    (2, 2, 2, 7, 5, 3, (1, 0, 0, 1)),  # elements between the windows
]


def operands(shape: Shape, images: int, fmt: FloatFormat, seed: int = 0):
    rng = np.random.default_rng(seed)
    delta = random_words(rng, (images, shape.out_rows, shape.out_columns, shape.m), fmt)
    return delta, random_words(rng, (shape.m, shape.n, shape.k, shape.k), fmt)


def slow_delta(delta: np.ndarray, kernels: np.ndarray, shape: Shape, fmt: FloatFormat):
    """Element by element: which sum does a tap of the window around an input element belong to?"""
    k, s = shape.k, shape.stride
    images = len(delta)

    def tap(image: int, row: int, column: int, j: int, i: int, dr: int, dc: int) -> int:
        # The window's tap (dr, dc) holds the delta of the sum whose own window has the element
        # under its tap (k-1-dr, k-1-dc).
        up, left = row + shape.top - (k - 1 - dr), column + shape.left - (k - 1 - dc)
        inside = up % s == left % s == 0
        inside = inside and 0 <= up // s < shape.out_rows and 0 <= left // s < shape.out_columns
        word = int(delta[image, up // s, left // s, j]) if inside else 0
        return multiply(word, int(kernels[j, i, k - 1 - dr, k - 1 - dc]), fmt).word

    def output(image: int, row: int, column: int, i: int) -> int:
        total = 0
        for j in range(shape.m):
            terms = [
                tap(image, row, column, j, i, dr, dc) for dr, dc in product(range(k), repeat=2)
            ]
            total = add(total, tree(terms, fmt), fmt).word
        return total

    size = (images, shape.rows, shape.columns, shape.n)
    return np.array([output(*index) for index in np.ndindex(*size)], np.uint32).reshape(size)


@pytest.mark.parametrize("geometry", few(GEOMETRIES, *GEOMETRIES[::3]))
@pytest.mark.parametrize("fmt", [SMALL, BINARY32], ids=["small", "binary32"])
def test_delta_keeps_the_order(geometry: tuple[int, ...], fmt: FloatFormat) -> None:
    shape = shape_of(geometry)
    delta, kernels = operands(shape, 2 if shape.stride == 2 else 1, fmt)
    got = delta_convolution(delta, kernels, shape, fmt)
    np.testing.assert_array_equal(got, slow_delta(delta, kernels, shape, fmt))


@pytest.mark.parametrize("stride", [1, 2])
def test_delta_of_any_words(stride: int) -> None:
    shape = Shape(n=2, m=3, k=3, rows=5, columns=4, stride=stride, pad=1)
    rng = np.random.default_rng(9)
    delta, kernels = (
        rng.integers(0, 1 << SMALL.width, words.shape, np.uint32)
        for words in operands(shape, 1, SMALL)
    )
    np.testing.assert_array_equal(
        delta_convolution(delta, kernels, shape, SMALL), slow_delta(delta, kernels, shape, SMALL)
    )


@pytest.mark.parametrize("geometry", [each for each in GEOMETRIES if each[3:5] != (1, 1)])
def test_smaller_kernels_have_zeros_below_and_on_the_right(geometry: tuple[int, ...]) -> None:
    """Once they are rotated: so the windows of delta propagation, too, grow below and right."""
    shape = shape_of(geometry)
    delta, kernels = operands(shape, 2, SMALL)
    around = (0, 0), (0, 0), (0, 2), (0, 2)
    maps = np.pad(spread(delta, shape), (around[0], *around[2:], (0, 0)))
    zeros = np.zeros(shape.n, np.uint32)
    wanted = convolution(maps, np.pad(swapped(kernels), around), zeros, 1, 0, SMALL)
    got = delta_convolution(delta, kernels, shape, SMALL, Summation(taps=(shape.k + 2) ** 2))
    np.testing.assert_array_equal(got, wanted)


@pytest.mark.parametrize("more", [0, 2])
@pytest.mark.parametrize("geometry", GEOMETRIES)
def test_delta_is_within_its_bound_of_binary64(geometry: tuple[int, ...], more: int) -> None:
    """Each term is rounded once as a product, once a level of the tree, once an output map."""
    shape = shape_of(geometry)
    delta, kernels = operands(shape, 2, BINARY32, seed=1)
    x = np.zeros((2, shape.rows, shape.columns, shape.n))
    weights, d = to_values(kernels, BINARY32), to_values(delta, BINARY32)
    exact = binary64.convolve_back(x, weights, d, shape).x
    magnitude = binary64.convolve_back(x, np.abs(weights), np.abs(d), shape).x
    taps = (shape.k + more) ** 2
    roundings = 1 + (taps - 1).bit_length() + shape.m
    choice = Summation(taps=taps)
    got = to_values(delta_convolution(delta, kernels, shape, BINARY32, choice), BINARY32)
    half_ulp = 2.0**-24
    assert (np.abs(got - exact) <= roundings * half_ulp * (1 + 2.0**-10) * magnitude).all()
    assert magnitude.max() > 0


@pytest.mark.parametrize("geometry", GEOMETRIES)
def test_delta_is_the_derivative(geometry: tuple[int, ...]) -> None:
    shape = shape_of(geometry)
    delta, kernels = operands(shape, 1, BINARY32, seed=2)
    weights, d = to_values(kernels, BINARY32), to_values(delta, BINARY32)
    x = np.zeros((1, shape.rows, shape.columns, shape.n))
    zeros = np.zeros(shape.m)
    numeric = binary64.central_differences(
        lambda: float((binary64.convolve(x, weights, zeros, shape) * d).sum()), x, 1.0
    )
    got = to_values(delta_convolution(delta, kernels, shape, BINARY32), BINARY32)
    magnitude = binary64.convolve_back(x, np.abs(weights), np.abs(d), shape).x
    roundings = 1 + (shape.k**2 - 1).bit_length() + shape.m
    assert (np.abs(got - numeric) <= roundings * 2.0**-23 * magnitude).all()


def test_the_forward_engine_does_it_with_roles_swapped() -> None:
    shape = Shape(n=3, m=5, k=3, rows=6, columns=7, pad=1)
    delta, kernels = operands(shape, 2, BINARY16)
    engine = convolution(
        delta, swapped(kernels), np.zeros(3, np.uint32), 1, shape.k - 1 - shape.pad, BINARY16
    )
    np.testing.assert_array_equal(delta_convolution(delta, kernels, shape, BINARY16), engine)


def test_elements_that_no_window_reached_have_no_delta() -> None:
    shape = Shape(n=1, m=1, k=2, rows=6, columns=6, stride=3)
    delta, kernels = operands(shape, 1, BINARY32)
    got = delta_convolution(delta, kernels, shape, BINARY32)[0, ..., 0]
    assert not got[2].any()
    assert not got[:, 5].any()
    assert got[[0, 1, 3, 4]][:, [0, 1, 3, 4]].all()


def test_delta_starts_at_positive_zero_and_adds_maps_in_ascending_order() -> None:
    shape = Shape(n=1, m=1, k=1, rows=1, columns=1)
    one = np.full((1, 1, 1, 1), BINARY32.one, np.uint32)
    assert delta_convolution(one * 0 + NEGATIVE, one, shape, BINARY32).item() == 0

    shape = Shape(n=1, m=3, k=1, rows=1, columns=1)
    kernels = np.full((3, 1, 1, 1), BINARY32.one, np.uint32)
    for values, wanted in (([2.0**24, 1, 1], 2.0**24), ([1, 1, 2.0**24], 2.0**24 + 2)):
        delta = to_bits(values, BINARY32).reshape(1, 1, 1, 3)
        assert to_values(delta_convolution(delta, kernels, shape, BINARY32), BINARY32) == wanted


def test_inserted_zeros_multiply_the_kernel() -> None:
    shape = Shape(n=1, m=1, k=2, rows=4, columns=4, stride=2)
    delta = np.full((1, 2, 2, 1), BINARY32.one, np.uint32)
    kernels = np.full((1, 1, 2, 2), BINARY32.one, np.uint32)
    kernels[0, 0, 0, 0] = BINARY32.inf
    got = delta_convolution(delta, kernels, shape, BINARY32)[0, ..., 0]
    assert got[0, 0] == BINARY32.inf
    assert got[1, 1] == BINARY32.nan


def test_spread_is_dilated_in_its_border() -> None:
    delta = np.arange(1, 7, dtype=np.uint32).reshape(1, 3, 2, 1)
    shape = Shape(n=1, m=1, k=3, rows=6, columns=4, stride=2, pad=1)
    assert spread(delta, shape)[0, ..., 0].tolist() == [
        [0, 0, 0, 0, 0, 0],
        [0, 1, 0, 2, 0, 0],
        [0, 0, 0, 0, 0, 0],
        [0, 3, 0, 4, 0, 0],
        [0, 0, 0, 0, 0, 0],
        [0, 5, 0, 6, 0, 0],
        [0, 0, 0, 0, 0, 0],
        [0, 0, 0, 0, 0, 0],
    ]


def test_groups_follow_each_other() -> None:
    shape = Shape(n=2, m=3, k=3, rows=4, columns=4, pad=1)
    layer = Layer(name="conv", kind="conv", groups=2, shape=shape)
    parts = [operands(shape, 1, BINARY32, seed) for seed in (0, 1)]
    got = delta_layer(
        layer,
        np.concatenate([delta for delta, _ in parts], axis=-1),
        np.concatenate([kernels for _, kernels in parts]),
        BINARY32,
    )
    wanted = [delta_convolution(*part, shape, BINARY32) for part in parts]
    np.testing.assert_array_equal(got, np.concatenate(wanted, axis=-1))


def test_delta_refuses_what_does_not_fit() -> None:
    shape = Shape(n=2, m=3, k=3, rows=4, columns=4)
    delta, kernels = operands(shape, 1, BINARY32)
    with pytest.raises(ValueError, match=r"delta must be of size \(2, 2, 3\), not \(2, 2, 2\)"):
        delta_convolution(delta[..., :2], kernels, shape, BINARY32)
    with pytest.raises(ValueError, match="kernels must be of size"):
        delta_convolution(delta, kernels[:, :1], shape, BINARY32)
    with pytest.raises(ValueError, match="cu_kind fused is for binary32 only"):
        delta_convolution(delta, kernels, shape, BINARY16, Summation(kind="fused"))
