"""Leaky ReLU against its definition: x if x > 0, else slope * x, rounded once; and its gradient."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from numpy.typing import NDArray

from merp.models.arithmetic.relu import leaky_relu
from merp.models.arithmetic.words import to_bits, to_values
from merp.models.base.bits import Bits
from merp.models.base.formats import BFLOAT16, BINARY16, BINARY32, FloatFormat
from merp.models.base.shape import Pool, Shape
from merp.models.golden.state import STATES, State, keep_state, packed, unpacked
from merp.models.golden.super_layer import super_layer
from merp.models.golden.unpool import unpool

SLOPES = {0.01: "odd", 0.25: "a power of two"}

NUMBERS = [
    (0.0, 0), (-0.0, 0), (-1.5, 0), (-7.0, 0), (-np.inf, 0), (0.5, 1), (1000.0, 1), (np.inf, 1),
    (np.nan, 0),
]  # fmt: skip
"""Inputs, and the mask of each."""

POOLS = {
    "none": None,
    "max": Pool(window=2, stride=2),
    "overlapping": Pool(window=3, stride=2, pad=1),
    "average": Pool(kind="average", window=2, stride=2),
    "overlapping average": Pool(kind="average", window=3, stride=1),
}


@pytest.mark.parametrize("fmt", [BINARY32, BFLOAT16, BINARY16])
@pytest.mark.parametrize("slope", SLOPES)
def test_numbers(fmt: FloatFormat, slope: float) -> None:
    """A product of two words is exact in binary64, so the conversion to words rounds it once."""
    given = to_bits([number for number, _ in NUMBERS], fmt)
    mask = np.array([mask for _, mask in NUMBERS], np.bool_)
    word = int(to_bits([slope], fmt)[0])
    x, factor = to_values(given, fmt), to_values([word], fmt)[0]
    found = leaky_relu(given, word, fmt)
    wanted = np.where(mask, x, x * factor)
    assert found.tolist() == to_bits(wanted, fmt).tolist()
    assert found[1] == fmt.sign_bit, "-0 times a slope is -0"
    shape = Shape(n=1, m=len(given), k=1, rows=1, columns=1, slope=word)
    delta = to_bits(np.full((1, 1, 1, len(given)), -3.0), fmt)
    for kind in STATES:
        state = keep_state(found.reshape(1, 1, 1, -1), shape, kind, fmt)
        got = unpool(delta, state, shape, fmt).reshape(-1)
        assert got.tolist() == to_bits(np.where(mask, -3, -3 * factor), fmt).tolist()


@pytest.mark.parametrize("fmt", [BINARY32, BFLOAT16, BINARY16])
def test_the_words_next_to_zero(fmt: FloatFormat) -> None:
    """A subnormal counts as zero, and so does a product below the smallest normal number."""
    least, sign = 1 << fmt.frac_bits, fmt.sign_bit
    half = int(to_bits([0.5], fmt)[0])
    twice = 2 << fmt.frac_bits
    words = np.array([1, least - 1, least, sign | 1, sign | least, sign | twice], np.uint32)
    wanted = [0, 0, least, sign, sign, sign | least]
    assert leaky_relu(words, half, fmt).tolist() == wanted


def sums_of(x: np.ndarray, kernels: np.ndarray, bias: np.ndarray) -> np.ndarray:
    """A convolution of images (images, rows, columns, maps), written out."""
    k = kernels.shape[2]
    images, rows, columns, _ = x.shape
    y = np.zeros((images, rows - k + 1, columns - k + 1, len(kernels))) + bias
    for i, j in product(range(k), range(k)):
        part = x[:, i : i + y.shape[1], j : j + y.shape[2]]
        y += np.einsum("abcn,mn->abcm", part, kernels[:, :, i, j])
    return y


def windows(pool: Pool, y: np.ndarray, size: tuple[int, int]) -> list[tuple[tuple, list]]:
    """Each pooled place, and the places of its window in raster order."""
    images, rows, columns, maps = y.shape
    found = []
    for b, r, c, m in product(range(images), range(size[0]), range(size[1]), range(maps)):
        top, left = r * pool.stride - pool.top, c * pool.stride - pool.left
        window = [
            (b, i, j, m)
            for i, j in product(range(top, top + pool.window), range(left, left + pool.window))
            if 0 <= i < rows and 0 <= j < columns
        ]
        found.append(((b, r, c, m), window))
    return found


def layer_in_binary64(
    sums: np.ndarray, delta: np.ndarray, pool: Pool | None, slope: float
) -> tuple[np.ndarray, np.ndarray]:
    """Output and delta of the sums, with a slope and averages that binary64 has exactly."""
    y = np.where(sums > 0, sums, sums * slope)
    factor = np.where(sums > 0, 1.0, slope)
    if pool is None:
        return y, delta * factor
    output, back = np.zeros(delta.shape), np.zeros(y.shape)
    for place, window in windows(pool, y, delta.shape[1:3]):
        values = [y[each] for each in window]
        if pool.kind == "max":
            first = values.index(max(values))
            output[place] = values[first]
            back[window[first]] += delta[place]
        else:
            output[place] = sum(values) / pool.window**2
            for each in window:
                back[each] += delta[place] / pool.window**2
    return output, back * factor


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", ["none", "max", "overlapping", "average"])
def test_a_layer_and_its_gradient_are_those_of_numpy(kind: str, seed: int) -> None:
    """Whole numbers and a slope of 1/4, so that no result is rounded; many maxima tie below 0."""
    rng, pool = np.random.default_rng(seed), POOLS[kind]
    word = int(to_bits([0.25], BINARY32)[0])
    shape = Shape(n=2, m=3, k=2, rows=6, columns=7, slope=word, pool=pool)
    x, kernels, bias = (
        rng.integers(-3, 4, size).astype(np.float64) for size in ((2, 6, 7, 2), (3, 2, 2, 2), 3)
    )
    bias -= 9
    size = 2, shape.pooled_rows, shape.pooled_columns, 3
    delta = rng.integers(-3, 4, size).astype(np.float64)
    sums = sums_of(x, kernels, bias)
    wanted, back = layer_in_binary64(sums, delta, pool, 0.25)
    assert (wanted < 0).any()
    assert (wanted > 0).any()

    def bits(values: np.ndarray) -> Bits:
        return to_bits(values, BINARY32)

    found = super_layer(bits(x), bits(kernels), bits(bias), shape, BINARY32)
    assert (to_values(found, BINARY32) == wanted).all()
    y = leaky_relu(bits(sums), word, BINARY32)
    for state in states(y, shape, BINARY32):
        assert (to_values(unpool(bits(delta), state, shape, BINARY32), BINARY32) == back).all()


def states(y: Bits, shape: Shape, fmt: FloatFormat) -> list[State]:
    """Every kind of state of an activation, and the one that hardware leaves."""
    found = [keep_state(y, shape, kind, fmt) for kind in STATES]
    stored = packed(keep_state(y, shape, "pooled", fmt), shape, fmt)
    return [*found, unpacked(stored, shape, y.shape[-1], len(y))]


def rounded(values: NDArray[np.float64], fmt: FloatFormat) -> NDArray[np.float64]:
    """Numbers of binary64, rounded into the format."""
    return to_values(to_bits(values, fmt), fmt)


@pytest.mark.parametrize("kind", POOLS)
def test_the_order_of_rounding(kind: str) -> None:
    """With maxima each pooled delta is multiplied, then added; otherwise the sum is multiplied.

    In bfloat16, whose sums and products differ in the two orders.
    """
    fmt, pool = BFLOAT16, POOLS[kind]
    rng = np.random.default_rng(1)
    word = int(to_bits([0.3], fmt)[0])
    slope = to_values([word], fmt)[0]
    shape = Shape(n=1, m=4, k=1, rows=7, columns=7, slope=word, pool=pool)
    y = leaky_relu(to_bits(rng.normal(-1, 1, (2, 7, 7, 4)), fmt), word, fmt)
    values = to_values(y, fmt)
    delta = rounded(rng.normal(0, 1, (2, shape.pooled_rows, shape.pooled_columns, 4)), fmt)
    before, after = np.zeros(values.shape), np.zeros(values.shape)
    if pool is None:
        after = delta
    else:
        for place, window in windows(pool, values, delta.shape[1:3]):
            own = [values[each] for each in window]
            share = delta[place]
            if pool.kind == "average":
                share = rounded(share * rounded(np.array(1 / pool.window**2), fmt), fmt)
                places = window
            else:
                places = [window[own.index(max(own))]]
            for each in places:
                product_ = share if values[each] > 0 else rounded(share * slope, fmt)
                before[each] = rounded(before[each] + product_, fmt)
                after[each] = rounded(after[each] + share, fmt)
    after = np.where(values > 0, after, rounded(after * slope, fmt))
    maximum = pool is not None and pool.kind == "max"
    wanted, other = (before, after) if maximum else (after, before)
    found = [unpool(to_bits(delta, fmt), state, shape, fmt) for state in states(y, shape, fmt)]
    for each in found:
        assert to_values(each, fmt).tolist() == wanted.tolist()
        np.testing.assert_array_equal(each, found[0])
    if pool is not None and pool.stride < pool.window:
        assert (wanted != other).any(), "the case does not tell the orders apart"


def test_a_nan_leaks_a_delta() -> None:
    """Its mask is clear, as in ReLU, whose delta would be +0."""
    word = int(to_bits([0.25], BINARY32)[0])
    shape = Shape(n=1, m=1, k=1, rows=1, columns=1, slope=word)
    state = keep_state(np.full((1, 1, 1, 1), BINARY32.nan, np.uint32), shape, "pooled", BINARY32)
    delta = to_bits([[[[8.0]]]], BINARY32)
    assert to_values(unpool(delta, state, shape, BINARY32), BINARY32).item() == 2
    plain = replace(shape, slope=0)
    assert unpool(delta, state, plain, BINARY32).item() == 0


def test_a_maximum_that_is_nan_leaks_a_delta() -> None:
    """Beside positive elements, whose masks are set: the mask is that of the maximum."""
    word = int(to_bits([0.25], BINARY32)[0])
    shape = Shape(n=1, m=1, k=1, rows=2, columns=2, slope=word, pool=Pool(window=2, stride=2))
    y = to_bits(np.array([[1.0, np.nan], [2.0, 3.0]]).reshape(1, 2, 2, 1), BINARY32)
    delta = to_bits([[[[8.0]]]], BINARY32)
    for state in states(y, shape, BINARY32):
        found = to_values(unpool(delta, state, shape, BINARY32), BINARY32)
        assert found.reshape(-1).tolist() == [0, 2, 0, 0]


def test_a_slope_needs_relu_and_no_six() -> None:
    plain = Shape(n=1, m=1, k=1, rows=1, columns=1, relu=False, slope=3)
    assert plain == Shape(n=1, m=1, k=1, rows=1, columns=1, relu=False)
    with pytest.raises(ValueError, match="slope must be 0 with relu6, not 3"):
        Shape(n=1, m=1, k=1, rows=1, columns=1, relu6=True, slope=3)
