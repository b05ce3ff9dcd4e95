"""ReLU6 against its definition: min(max(x, 0), 6), and a gradient of 1 for 0 < x < 6 alone."""

from itertools import product

import numpy as np
import pytest

from merp.models.arithmetic.relu import relu6
from merp.models.arithmetic.words import to_bits, to_values
from merp.models.base.bits import Bits
from merp.models.base.formats import BFLOAT16, BINARY16, BINARY32, FloatFormat
from merp.models.base.shape import Pool, Shape
from merp.models.golden.state import keep_state, packed, unpacked
from merp.models.golden.super_layer import super_layer
from merp.models.golden.unpool import unpool

NUMBERS = [
    (0.0, 0.0, 0), (-0.0, 0.0, 0), (-1.5, 0.0, 0), (-7.0, 0.0, 0), (-np.inf, 0.0, 0),
    (0.5, 0.5, 1), (5.75, 5.75, 1), (6.0, 6.0, 0), (6.25, 6.0, 0), (1000.0, 6.0, 0),
    (np.inf, 6.0, 0), (np.nan, np.nan, 0),
]  # fmt: skip
"""Inputs, what ReLU6 makes of them, and its derivative."""

POOLS = {
    "none": None,
    "max": Pool(window=2, stride=2),
    "overlapping": Pool(window=3, stride=2, pad=1),
    "average": Pool(kind="average", window=2, stride=2),
}


@pytest.mark.parametrize("fmt", [BINARY32, BFLOAT16, BINARY16])
def test_numbers(fmt: FloatFormat) -> None:
    given, wanted, derivative = (np.array(each) for each in zip(*NUMBERS, strict=True))
    found = relu6(to_bits(given, fmt), fmt)
    assert found.tolist() == to_bits(wanted, fmt).tolist()
    shape = Shape(n=1, m=len(given), k=1, rows=1, columns=1, relu6=True)
    for kind in ("32", "1", "pooled"):
        state = keep_state(found.reshape(1, 1, 1, -1), shape, kind, fmt)
        one = to_bits(np.ones((1, 1, 1, len(given))), fmt)
        assert to_values(unpool(one, state, shape, fmt), fmt).reshape(-1).tolist() == [*derivative]


@pytest.mark.parametrize("fmt", [BINARY32, BFLOAT16, BINARY16])
def test_the_words_next_to_six(fmt: FloatFormat) -> None:
    six = int(to_bits([6.0], fmt)[0])
    words = np.array([six - 1, six, six + 1, fmt.inf - 1, 1, 1 << fmt.frac_bits], np.uint32)
    assert relu6(words, fmt).tolist() == [six - 1, six, six, six, 0, 1 << fmt.frac_bits]


def numbers(rng: np.random.Generator, *size: int) -> np.ndarray:
    """Whole numbers, which every sum of a test keeps exactly."""
    return rng.integers(-3, 4, size).astype(np.float64)


def sums_of(x: np.ndarray, kernels: np.ndarray, bias: np.ndarray) -> np.ndarray:
    """A convolution of images (images, rows, columns, maps), written out."""
    k = kernels.shape[2]
    images, rows, columns, _ = x.shape
    y = np.zeros((images, rows - k + 1, columns - k + 1, len(kernels))) + bias
    for i, j in product(range(k), range(k)):
        part = x[:, i : i + y.shape[1], j : j + y.shape[2]]
        y += np.einsum("abcn,mn->abcm", part, kernels[:, :, i, j])
    return y


def pooled(y: np.ndarray, pool: Pool, size: tuple[int, int]) -> list[tuple[tuple, list]]:
    """Each pooled place, and the places of its window in raster order."""
    images, rows, columns, maps = y.shape
    return [
        (
            (b, r, c, m),
            [
                (b, i, j, m)
                for i in range(r * pool.stride - pool.top, r * pool.stride - pool.top + pool.window)
                for j in range(
                    c * pool.stride - pool.left, c * pool.stride - pool.left + pool.window
                )
                if 0 <= i < rows and 0 <= j < columns
            ],
        )
        for b, r, c, m in product(range(images), range(size[0]), range(size[1]), range(maps))
    ]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("pool", POOLS.values(), ids=POOLS)
def test_a_layer_and_its_gradient_are_those_of_numpy(pool: Pool | None, seed: int) -> None:
    """Many sums are 0, 6 or beyond, so that maxima tie at both ends."""
    rng = np.random.default_rng(seed)
    shape = Shape(n=2, m=3, k=2, rows=6, columns=7, relu6=True, pool=pool)
    x, kernels, bias = numbers(rng, 2, 6, 7, 2), numbers(rng, 3, 2, 2, 2), numbers(rng, 3)
    delta = numbers(rng, 2, shape.pooled_rows, shape.pooled_columns, 3)
    sums = sums_of(x, kernels, bias)
    y = np.minimum(np.maximum(sums, 0.0), 6.0)
    assert (sums > 6).any()
    assert (sums == 6).any()
    wanted, back = y, delta
    if pool is not None:
        wanted, back = np.zeros(delta.shape), np.zeros(y.shape)
        for place, window in pooled(y, pool, delta.shape[1:3]):
            values = [y[each] for each in window]
            if pool.kind == "max":
                first = values.index(max(values))
                wanted[place] = values[first]
                back[window[first]] += delta[place]
            else:
                wanted[place] = sum(values) / pool.window**2
                for each in window:
                    back[each] += delta[place] / pool.window**2
    back = np.where((sums > 0) & (sums < 6), back, 0.0)

    def bits(values: np.ndarray) -> Bits:
        return to_bits(values, BINARY32)

    found = super_layer(bits(x), bits(kernels), bits(bias), shape, BINARY32)
    assert (to_values(found, BINARY32) == wanted).all()
    for kind in ("32", "1", "pooled"):
        state = keep_state(bits(y), shape, kind, BINARY32)
        if kind == "pooled":
            state = unpacked(packed(state, shape, BINARY32), shape, 3, 2)
        assert (to_values(unpool(bits(delta), state, shape, BINARY32), BINARY32) == back).all()


def test_without_relu_there_is_no_six() -> None:
    plain = Shape(n=1, m=1, k=1, rows=1, columns=1, relu=False, relu6=True)
    assert plain == Shape(n=1, m=1, k=1, rows=1, columns=1, relu=False)
