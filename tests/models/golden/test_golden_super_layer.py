"""Golden convolution, ReLU, pooling and super layer against plain Python in the order specified."""

from itertools import product

import numpy as np
import pytest

from exact import add, multiply
from golden_operands import random_words, tree
from merp.models.arithmetic.relu import relu
from merp.models.arithmetic.words import to_bits, to_values
from merp.models.base.formats import BINARY16, BINARY32, FloatFormat
from merp.models.base.shape import Padding, Pool, Shape, sides
from merp.models.base.summation import Summation
from merp.models.golden.convolution import convolution
from merp.models.golden.pooling import average_pool, max_pool
from merp.models.golden.super_layer import super_layer
from merp.models.machines.cnn_merp.params.registers import reciprocal_square

SMALL = FloatFormat(5, 4)
INF, NAN = BINARY32.inf, BINARY32.nan
NEGATIVE = BINARY32.sign_bit


def slow_convolution(
    x: np.ndarray, kernels: np.ndarray, bias: np.ndarray, stride: int, pad: Padding,
    fmt: FloatFormat,
) -> np.ndarray:  # fmt: skip
    top, left, bottom, right = (pad,) * 4 if isinstance(pad, int) else pad
    images, rows, columns, n = x.shape
    m, _, k, _ = kernels.shape

    def element(image: int, row: int, column: int, i: int) -> int:
        inside = 0 <= row < rows and 0 <= column < columns
        return int(x[image, row, column, i]) if inside else 0

    def output(image: int, row: int, column: int, j: int) -> int:
        total = int(bias[j])
        for i in range(n):
            products = [
                multiply(
                    element(image, row * stride + dr - top, column * stride + dc - left, i),
                    int(kernels[j, i, dr, dc]),
                    fmt,
                ).word
                for dr, dc in product(range(k), repeat=2)
            ]
            total = add(total, tree(products, fmt), fmt).word
        return total

    sides = top + rows + bottom, left + columns + right
    size = (images, *((side - k) // stride + 1 for side in sides), m)
    return np.array([output(*index) for index in np.ndindex(*size)], np.uint32).reshape(size)


@pytest.mark.parametrize(
    ("images", "rows", "columns", "n", "m", "k", "stride", "pad", "fmt"),
    [
        (1, 4, 5, 3, 2, 3, 1, 1, BINARY32),
        (2, 3, 3, 2, 3, 2, 1, 0, BINARY32),
        (1, 5, 4, 2, 2, 1, 1, 0, SMALL),
        (1, 7, 8, 1, 2, 3, 2, 2, BINARY16),
        (1, 6, 6, 2, 1, 5, 3, 4, SMALL),
        (2, 2, 2, 2, 17, 2, 1, 1, SMALL),  # more than 16 output maps
        (1, 1, 1, 7, 33, 1, 1, 0, BINARY32),  # fully connected
        (1, 3, 2, 2, 2, 4, 1, 3, SMALL),  # a kernel larger than the map
        (1, 4, 3, 2, 2, 3, 1, (0, 1, 2, 0), BINARY32),
        (2, 2, 6, 1, 3, 4, 2, (3, 0, 1, 2), SMALL),
    ],
)
def test_convolution_keeps_the_order(
    images: int, rows: int, columns: int, n: int, m: int, k: int, stride: int, pad: Padding,
    fmt: FloatFormat,
) -> None:  # fmt: skip
    rng = np.random.default_rng(k + m)
    x = random_words(rng, (images, rows, columns, n), fmt)
    kernels = random_words(rng, (m, n, k, k), fmt)
    bias = random_words(rng, (m,), fmt)
    np.testing.assert_array_equal(
        convolution(x, kernels, bias, stride, pad, fmt),
        slow_convolution(x, kernels, bias, stride, pad, fmt),
    )


@pytest.mark.parametrize("more", [1, 3])
def test_a_smaller_kernel_is_one_with_zeros_below_and_on_the_right(more: int) -> None:
    """Whatever the words: an infinity under such a tap gives a NaN, as under the padding's."""
    rng = np.random.default_rng(more)
    sizes = (2, 4, 5, 2), (3, 2, 2, 2), (3,)
    some = [random_words(rng, size, SMALL) for size in sizes]
    any_words = [rng.integers(0, 1 << SMALL.width, size, np.uint32) for size in sizes]
    for x, kernels, bias in (some, any_words):
        whole = np.pad(kernels, ((0, 0), (0, 0), (0, more), (0, more)))
        for stride, pad in ((1, (0, 1, 1, 0)), (2, (1, 1, 1, 1)), (3, (0, 0, 0, 0))):
            wider = (*pad[:2], pad[2] + more, pad[3] + more)
            np.testing.assert_array_equal(
                convolution(x, kernels, bias, stride, pad, SMALL, Summation(taps=(2 + more) ** 2)),
                slow_convolution(x, whole, bias, stride, wider, SMALL),
            )


def test_zeros_of_taps_that_a_kernel_lacks_have_a_sign_and_make_nan() -> None:
    x = np.array([BINARY32.one, INF], np.uint32).reshape(1, 1, 2, 1)
    kernels = np.full((1, 1, 1, 1), BINARY32.one, np.uint32)
    bias = np.zeros(1, np.uint32)
    of_its_own = convolution(x, kernels, bias, 1, 0, BINARY32).reshape(-1).tolist()
    on_four = convolution(x, kernels, bias, 1, 0, BINARY32, Summation(taps=4)).reshape(-1).tolist()
    assert of_its_own == [BINARY32.one, INF]
    assert on_four == [NAN, INF]  # the infinity is beside the first window's only element
    minus = np.full((1, 2, 2, 1), NEGATIVE, np.uint32)
    minus_bias = np.array([NEGATIVE], np.uint32)
    for taps, wanted in ((1, NEGATIVE), (4, 0)):  # -0 * 1 and the padding's +0 * +0
        got = convolution(minus, kernels, minus_bias, 1, 0, BINARY32, Summation(taps=taps))
        assert got.reshape(-1)[-1] == wanted


def test_convolution_of_any_words() -> None:
    rng = np.random.default_rng(9)
    x, kernels, bias = (
        rng.integers(0, 1 << SMALL.width, size, np.uint32)
        for size in ((1, 4, 4, 2), (3, 2, 2, 2), (3,))
    )
    np.testing.assert_array_equal(
        convolution(x, kernels, bias, 1, 1, SMALL), slow_convolution(x, kernels, bias, 1, 1, SMALL)
    )


def one_tap(x: int, kernel: int, bias: int, pad: int = 0) -> int:
    maps = np.full((1, 1, 1, 1), x, np.uint32)
    kernels = np.full((1, 1, 1 + 2 * pad, 1 + 2 * pad), kernel, np.uint32)
    return int(convolution(maps, kernels, np.array([bias], np.uint32), 1, pad, BINARY32).item())


def test_padding_multiplies_the_kernel() -> None:
    assert one_tap(BINARY32.one, INF, 0, pad=1) == NAN
    assert one_tap(BINARY32.one, INF, 0) == INF
    # The signed zero of a padding tap is not left out: (-0) + 0 * 1 is +0.
    assert one_tap(NEGATIVE, BINARY32.one, NEGATIVE) == NEGATIVE
    assert one_tap(NEGATIVE, BINARY32.one, NEGATIVE, pad=1) == 0


def test_the_accumulator_starts_at_the_bias() -> None:
    # 2^24 + 1 rounds to 2^24: twice from the bias, but 2 + 2^24 when the bias comes last.
    large = to_bits(2.0**24, BINARY32)
    ones = np.full((1, 1, 1, 2), BINARY32.one, np.uint32)
    kernels = np.full((1, 2, 1, 1), BINARY32.one, np.uint32)
    assert convolution(ones, kernels, large.reshape(1), 1, 0, BINARY32).item() == large


def test_an_overflow_within_a_sum_stays() -> None:
    half = to_bits([2.0**127, -(2.0**127)], BINARY32)  # 2^128 would fit the models' binary64
    x = np.full((1, 1, 1, 2), BINARY32.one + (1 << BINARY32.frac_bits), np.uint32)
    kernels = half.reshape(1, 2, 1, 1)
    assert convolution(x, kernels, half[:1] * 0, 1, 0, BINARY32).item() == NAN
    x[..., 1] = BINARY32.one
    assert convolution(x, kernels, half[:1] * 0, 1, 0, BINARY32).item() == INF


def test_convolution_refuses_what_does_not_fit() -> None:
    x, bias = np.zeros((1, 3, 3, 2), np.uint32), np.zeros(1, np.uint32)
    with pytest.raises(ValueError, match="do not fit"):
        convolution(x, np.zeros((1, 3, 3, 3), np.uint32), bias, 1, 0, BINARY32)
    with pytest.raises(ValueError, match="do not fit"):
        convolution(x, np.zeros((1, 2, 4, 4), np.uint32), bias, 1, 0, BINARY32)
    fused = Summation(kind="fused")
    with pytest.raises(ValueError, match="cu_kind fused is for binary32 only"):
        convolution(x, np.zeros((1, 2, 3, 3), np.uint32), bias, 1, 0, BINARY16, fused)


def test_relu() -> None:
    smallest = 1 << BINARY32.frac_bits
    pairs = {
        0: 0, NEGATIVE: 0, 1: 0, NEGATIVE | 1: 0, smallest: smallest, NEGATIVE | smallest: 0,
        INF: INF, NEGATIVE | INF: 0, NAN: NAN, 0xFFFFFFFF: NAN, BINARY32.one: BINARY32.one,
    }  # fmt: skip
    x = np.array(list(pairs), np.uint32).reshape(1, 1, -1, 1)
    assert relu(x, BINARY32).reshape(-1).tolist() == list(pairs.values())


def pooled(words: list[int], kind: str, window: int = 2) -> int:
    x = np.array(words, np.uint32).reshape(1, window, -1, 1)
    pool = max_pool if kind == "max" else average_pool
    return int(pool(x, Pool(window=window, stride=1), BINARY32).item())


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        ([0, NEGATIVE, 0, 0], 0),
        ([NEGATIVE, 0, 0, 0], NEGATIVE),  # the first of equals
        ([NEGATIVE | INF, NEGATIVE, 0, NEGATIVE | INF], NEGATIVE),
        ([NAN, INF, 0, 0], NAN),
        ([INF, 0, 0, 0xFFC00001], NAN),
        ([NEGATIVE | INF] * 4, NEGATIVE | INF),
        ([BINARY32.one, BINARY32.one + 1, BINARY32.one, 0], BINARY32.one + 1),
        ([NEGATIVE | BINARY32.one, NEGATIVE | 1, NEGATIVE | BINARY32.one, 1], NEGATIVE),
    ],
)
def test_max_pool_rules(words: list[int], wanted: int) -> None:
    assert pooled(words, "max") == wanted


def test_average_pool_adds_in_raster_order_from_the_first() -> None:
    words = to_bits([2.0**24, 1, 1, -(2.0**24)], BINARY32).tolist()
    assert pooled(words, "average") == 0  # each one is lost against 2^24
    assert pooled(words[1:] + words[:1], "average") == to_bits(0.5, BINARY32)
    assert pooled([NEGATIVE] * 4, "average") == NEGATIVE  # does not start from +0
    assert pooled([NAN, 0, 0, 0], "average") == NAN


@pytest.mark.parametrize("fmt", [BINARY32, BINARY16, FloatFormat(8, 2), FloatFormat(8, 23)])
def test_average_factor_is_the_rounded_quotient(fmt: FloatFormat) -> None:
    for window in range(1, 17):
        if window * window > 2 ** (fmt.bias - 1):
            continue
        x = np.zeros((1, window, window, 1), np.uint32)
        x[0, 0, 0, 0] = fmt.one
        assert average_pool(x, Pool(window=window, stride=1), fmt).item() == reciprocal_square(
            window, fmt
        )


@pytest.mark.parametrize("kind", ["max", "average"])
@pytest.mark.parametrize(
    ("window", "stride", "pad"),
    [
        (3, 2, 0), (2, 2, 0), (2, 3, 0), (1, 1, 0), (4, 1, 0),
        (3, 2, 1), (2, 2, 1), (5, 4, 3), (3, 3, (0, 2, 1, 0)),
    ],
)  # fmt: skip
def test_pooling_windows(kind: str, window: int, stride: int, pad: Padding) -> None:
    """A window has the elements of the map that lie in it, whichever part of it that is."""
    rng = np.random.default_rng(window)
    x = random_words(rng, (2, 6, 7, 3), SMALL)
    pool = max_pool if kind == "max" else average_pool
    got = pool(x, Pool(window=window, stride=stride, pad=pad), SMALL)
    above, before, below, behind = sides(pad)
    high, wide = 6 + above + below - window, 7 + before + behind - window
    assert got.shape == (2, high // stride + 1, wide // stride + 1, 3)
    for image, row, column, i in np.ndindex(*got.shape):
        top, left = row * stride - above, column * stride - before
        places = np.ix_(
            [y for y in range(top, top + window) if 0 <= y < 6],
            [z for z in range(left, left + window) if 0 <= z < 7],
        )
        part = x[image, ..., i][places].reshape(-1).tolist()
        if kind == "max":
            wanted = part[int(np.argmax(to_values(part, SMALL)))]
        else:
            total = part[0]
            for word in part[1:]:
                total = add(total, word, SMALL).word
            wanted = multiply(total, reciprocal_square(window, SMALL), SMALL).word
        assert got[image, row, column, i] == wanted


def test_a_window_larger_than_the_map_is_refused() -> None:
    with pytest.raises(ValueError, match="window of 3 does not fit 2 x 5"):
        max_pool(np.zeros((1, 2, 5, 1), np.uint32), Pool(window=3, stride=1), BINARY32)


@pytest.mark.parametrize("use_relu", [True, False])
@pytest.mark.parametrize(
    "pool",
    [None, Pool(window=2, stride=2), Pool(kind="average", window=3, stride=1)],
    ids=["none", "max", "average"],
)
def test_super_layer_is_convolution_then_relu_then_pooling(
    use_relu: bool, pool: Pool | None
) -> None:
    shape = Shape(n=2, m=3, k=3, rows=5, columns=6, pad=1, relu=use_relu, pool=pool)
    rng = np.random.default_rng(4)
    x = random_words(rng, (2, 5, 6, 2), BINARY16)
    kernels = random_words(rng, (3, 2, 3, 3), BINARY16)
    bias = random_words(rng, (3,), BINARY16)
    y = convolution(x, kernels, bias, 1, 1, BINARY16)
    if use_relu:
        y = relu(y, BINARY16)
    if pool:
        function = max_pool if pool.kind == "max" else average_pool
        y = function(y, pool, BINARY16)
    got = super_layer(x, kernels, bias, shape, BINARY16)
    assert got.shape == (2, shape.pooled_rows, shape.pooled_columns, 3)
    np.testing.assert_array_equal(got, y)


def test_super_layer_refuses_other_sizes() -> None:
    shape = Shape(n=1, m=1, k=1, rows=2, columns=2)
    one = np.zeros((1, 1, 1, 1), np.uint32)
    with pytest.raises(ValueError, match="maps must be of size"):
        super_layer(one, one, np.zeros(1, np.uint32), shape, BINARY32)
