"""Golden un-pooling, ReLU' and the state they need: order, ties, packing, derivative."""

from dataclasses import replace

import numpy as np
import pytest

import binary64
from exact import add, multiply
from golden_operands import random_words
from merp.models.arithmetic.relu import relu
from merp.models.arithmetic.words import to_bits, to_values
from merp.models.base.formats import BFLOAT16, BINARY32, FloatFormat
from merp.models.base.shape import Padding, Pool, Shape
from merp.models.base.state_field import STATES
from merp.models.golden.pooling import average_pool, max_pool
from merp.models.golden.state import keep_state, max_positions, of_maps, packed
from merp.models.golden.unpool import unpool
from merp.models.machines.cnn_merp.params.registers import reciprocal_square
from merp.models.traffic.count import state_read_bytes, state_written_bytes

SMALL = FloatFormat(5, 4)
ONE, INF, NAN, NEGATIVE = BINARY32.one, BINARY32.inf, BINARY32.nan, BINARY32.sign_bit
POOLS = [
    (1, 1, 0), (2, 2, 0), (3, 2, 0), (3, 1, 0), (2, 3, 0), (4, 3, 0),
    (3, 2, 1), (2, 2, 1), (2, 3, (1, 0, 0, 1)), (5, 3, (2, 1, 0, 2)),
]  # fmt: skip


def shape_of(
    kind: str | None, window: int, stride: int, use_relu: bool = True, pad: Padding = 0
) -> Shape:
    """Sums of 6 x 7, from kernels of one element."""
    pool = Pool(kind=kind, window=window, stride=stride, pad=pad) if kind else None
    return Shape(n=1, m=3, k=1, rows=6, columns=7, relu=use_relu, pool=pool)


def operands(shape: Shape, fmt: FloatFormat, seed: int = 0):
    """An activation with ties and zeros, and a delta of the output."""
    rng = np.random.default_rng(seed)
    sums = to_bits(rng.integers(-3, 4, (2, shape.out_rows, shape.out_columns, 3)), fmt)
    activation = relu(sums, fmt) if shape.relu else sums
    delta = random_words(rng, (2, shape.pooled_rows, shape.pooled_columns, 3), fmt)
    return activation, delta


def slow_unpool(delta: np.ndarray, activation: np.ndarray, shape: Shape, fmt: FloatFormat):
    """Walk the pooled elements in raster order and hand each one's delta to its window."""
    values = to_values(activation, fmt)
    total = np.zeros(activation.shape, np.uint32)
    if shape.pool is None:
        total[...] = delta
    for image, row, column, i in np.ndindex(*delta.shape) if shape.pool else ():
        word, pool = int(delta[image, row, column, i]), shape.pool
        top, left = row * pool.stride - pool.top, column * pool.stride - pool.left
        window = ((top + a, left + b) for a, b in np.ndindex(pool.window, pool.window))
        places = [
            (a, b) for a, b in window if 0 <= a < shape.out_rows and 0 <= b < shape.out_columns
        ]
        if pool.kind == "max":
            best = places[0]
            for place in places[1:]:
                x, y = values[image, *best, i], values[image, *place, i]
                if y > x or (np.isnan(y) and not np.isnan(x)):
                    best = place
            places = [best]
        else:
            word = multiply(word, reciprocal_square(pool.window, fmt), fmt).word
        for r, c in places:
            total[image, r, c, i] = add(int(total[image, r, c, i]), word, fmt).word
    return np.where(values > 0, total, 0) if shape.relu else total


@pytest.mark.sample(14)
@pytest.mark.parametrize("use_relu", [True, False], ids=["relu", "plain"])
@pytest.mark.parametrize("kind", ["max", "average"])
@pytest.mark.parametrize(("window", "stride", "pad"), POOLS)
def test_unpool_keeps_the_order(
    kind: str, window: int, stride: int, pad: Padding, use_relu: bool
) -> None:
    shape = shape_of(kind, window, stride, use_relu, pad)
    activation, delta = operands(shape, SMALL)
    wanted = slow_unpool(delta, activation, shape, SMALL)
    for state in STATES:
        kept = keep_state(activation, shape, state, SMALL)
        np.testing.assert_array_equal(unpool(delta, kept, shape, SMALL), wanted, state)


@pytest.mark.sample(2)
@pytest.mark.parametrize("use_relu", [True, False], ids=["relu", "plain"])
@pytest.mark.parametrize("kind", ["max", "average", None])
def test_unpool_of_any_words(kind: str | None, use_relu: bool) -> None:
    shape = shape_of(kind, 3, 2, use_relu)
    rng = np.random.default_rng(1)
    size = (2, shape.pooled_rows, shape.pooled_columns, 3)
    for _ in range(4):
        delta = rng.integers(0, 1 << SMALL.width, size, np.uint32)
        activation = rng.integers(0, 1 << SMALL.width, (2, 6, 7, 3), np.uint32)
        activation[rng.random(activation.shape) < 0.1] = SMALL.nan
        if use_relu:
            activation = relu(activation, SMALL)
        wanted = slow_unpool(delta, activation, shape, SMALL)
        for state in STATES:
            kept = keep_state(activation, shape, state, SMALL)
            np.testing.assert_array_equal(unpool(delta, kept, shape, SMALL), wanted, state)


@pytest.mark.parametrize(
    ("words", "position"),
    [
        ([0, NEGATIVE, 0, 0], 0),
        ([NEGATIVE, 0, 0, 0], 0),  # the first of equals
        ([ONE, ONE, ONE, ONE], 0),
        ([0, ONE, ONE, 0], 1),
        ([0, ONE, ONE + 1, ONE], 2),
        ([NEGATIVE | ONE, NEGATIVE | 1, 1, NEGATIVE], 1),  # subnormals are zeros
        ([INF, NAN, INF, NAN], 1),  # the first NaN
        ([NEGATIVE | INF] * 4, 0),
        ([0, 0, 0, INF], 3),
    ],
)
def test_position_of_the_maximum(words: list[int], position: int) -> None:
    x = np.array(words, np.uint32).reshape(1, 2, 2, 1)
    pool = Pool(window=2, stride=2)
    assert max_positions(x, pool, BINARY32).item() == position
    # The position is that of the element which pooling lets through.
    chosen = to_values(x.reshape(-1)[position], BINARY32)
    np.testing.assert_array_equal(to_values(max_pool(x, pool, BINARY32), BINARY32).item(), chosen)


def one_window(words: list[int], delta: int, state: str, use_relu: bool = True) -> list[int]:
    shape = Shape(n=1, m=1, k=1, rows=2, columns=2, relu=use_relu, pool=Pool(window=2, stride=2))
    x = np.array(words, np.uint32).reshape(1, 2, 2, 1)
    kept = keep_state(x, shape, state, BINARY32)
    return unpool(np.full((1, 1, 1, 1), delta, np.uint32), kept, shape, BINARY32).ravel().tolist()


@pytest.mark.parametrize("state", STATES)
def test_the_mask_chooses_and_does_not_multiply(state: str) -> None:
    assert one_window([0, 0, 0, 0], NAN, state) == [0, 0, 0, 0]
    assert one_window([0, 0, 0, 0], INF, state) == [0, 0, 0, 0]
    assert one_window([NAN, ONE, 0, 0], ONE, state) == [0, 0, 0, 0]  # x > 0 is false for NaN
    assert one_window([NAN, ONE, 0, 0], ONE, state, use_relu=False) == [ONE, 0, 0, 0]
    assert one_window([0, ONE, ONE, 0], NAN, state) == [0, NAN, 0, 0]


@pytest.mark.parametrize("state", STATES)
def test_sums_start_at_positive_zero_only_where_something_is_added(state: str) -> None:
    assert one_window([ONE, 0, 0, 0], NEGATIVE, state) == [0, 0, 0, 0]
    shape = Shape(n=1, m=1, k=1, rows=1, columns=1, pool=None)
    word = np.full((1, 1, 1, 1), NEGATIVE, np.uint32)
    kept = keep_state(np.full((1, 1, 1, 1), ONE, np.uint32), shape, state, BINARY32)
    assert unpool(word, kept, shape, BINARY32).item() == NEGATIVE


@pytest.mark.parametrize("state", STATES)
def test_a_sum_flushed_to_negative_zero_stays(state: str) -> None:
    """Elements that are no maximum are not added to, not even +0."""
    pool = Pool(window=3, stride=1)
    shape = Shape(n=1, m=1, k=1, rows=3, columns=5, relu=False, pool=pool)
    x = np.zeros((1, 3, 5, 1), np.uint32)
    x[0, 0, 2] = ONE  # the maximum of windows 0 and 1; window 2 only holds it
    x[0, 0, 4] = ONE + 1
    smallest = 1 << BINARY32.frac_bits
    delta = np.array([smallest + 1, NEGATIVE | (smallest + 2), ONE], np.uint32).reshape(1, 1, 3, 1)
    got = unpool(delta, keep_state(x, shape, state, BINARY32), shape, BINARY32)
    assert got[0, 0, :, 0].tolist() == [0, 0, NEGATIVE, 0, ONE]


def test_overlaps_add_in_raster_order() -> None:
    shape = Shape(n=1, m=1, k=1, rows=3, columns=3, relu=False, pool=Pool(window=2, stride=1))
    x = np.zeros((1, 3, 3, 1), np.uint32)
    x[0, 1, 1] = ONE  # the maximum of all four windows
    kept = keep_state(x, shape, "pooled", BINARY32)
    for values, wanted in (([2.0**24, 1, 1, 2], 2.0**24 + 2), ([1, 1, 2, 2.0**24], 2.0**24 + 4)):
        delta = to_bits(values, BINARY32).reshape(1, 2, 2, 1)
        assert to_values(unpool(delta, kept, shape, BINARY32), BINARY32)[0, 1, 1, 0] == wanted
    # Row before column: (2^24 + 1) + 1 - 2^24 is 0, but 2^24 + 1 - 2^24 + 1 would be 1.
    delta = to_bits([2.0**24, 1, 1, -(2.0**24)], BINARY32).reshape(1, 2, 2, 1)
    assert unpool(delta, kept, shape, BINARY32)[0, 1, 1, 0] == 0
    delta = to_bits([2.0**24, 1, -(2.0**24), 1], BINARY32).reshape(1, 2, 2, 1)
    assert to_values(unpool(delta, kept, shape, BINARY32), BINARY32)[0, 1, 1, 0] == 1


@pytest.mark.parametrize("kind", ["max", "average"])
@pytest.mark.parametrize(("window", "stride", "pad"), POOLS)
def test_unpool_is_within_its_bound_of_binary64(
    kind: str, window: int, stride: int, pad: Padding
) -> None:
    """Average: one rounding of the factor, one of the product; then one a contribution."""
    shape = shape_of(kind, window, stride, pad=pad)
    activation, delta = operands(shape, BINARY32, seed=3)
    values, d = to_values(activation, BINARY32), to_values(delta, BINARY32)
    exact = binary64.relu_pool_back(values, d, shape)
    magnitude = binary64.relu_pool_back(values, np.abs(d), shape)
    roundings = 2 * (kind == "average") + (-(-window // stride)) ** 2
    kept = keep_state(activation, shape, "pooled", BINARY32)
    got = to_values(unpool(delta, kept, shape, BINARY32), BINARY32)
    assert (np.abs(got - exact) <= roundings * 2.0**-24 * (1 + 2.0**-10) * magnitude).all()


@pytest.mark.parametrize("use_relu", [True, False], ids=["relu", "plain"])
@pytest.mark.parametrize("kind", ["max", "average", None])
@pytest.mark.parametrize(("window", "stride", "pad"), POOLS)
def test_unpool_is_the_derivative(
    kind: str | None, window: int, stride: int, pad: Padding, use_relu: bool
) -> None:
    """At ties the function has no derivative: later elements are lowered so that the first wins."""
    shape = shape_of(kind, window, stride, use_relu, pad)
    rng = np.random.default_rng(4)
    sums = to_bits(rng.integers(-2, 3, (1, 6, 7, 2)), BINARY32)
    delta = random_words(rng, (1, shape.pooled_rows, shape.pooled_columns, 2), BINARY32)
    d = to_values(delta, BINARY32)
    lowered = to_values(sums, BINARY32) - np.arange(1, 43).reshape(1, 6, 7, 1) * 2.0**-10

    def output() -> float:
        y = np.maximum(lowered, 0) if use_relu else lowered
        return float(((binary64.pool_maps(y, shape.pool) if shape.pool else y) * d).sum())

    numeric = binary64.central_differences(output, lowered, 2.0**-12)
    activation = relu(sums, BINARY32) if use_relu else sums
    got = unpool(delta, keep_state(activation, shape, "1", BINARY32), shape, BINARY32)
    np.testing.assert_allclose(to_values(got, BINARY32), numeric, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("fmt", [BINARY32, BFLOAT16, FloatFormat(3, 5)])
@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("kind", ["max", "average", None])
@pytest.mark.parametrize("use_relu", [True, False])
@pytest.mark.parametrize("groups", [1, 3])
def test_packed_state_is_as_long_as_the_closed_form_says(
    fmt: FloatFormat, state: str, kind: str | None, use_relu: bool, groups: int
) -> None:
    """Of each group by itself: that is what a pass reads and writes."""
    shape = replace(shape_of(kind, 3, 2, use_relu), m=3 // groups)
    activation, _ = operands(shape, fmt)
    kept = keep_state(activation, shape, state, fmt)
    word_bits = 8 * -(-fmt.width // 8)
    for low in range(0, 3, shape.m):
        found = len(packed(of_maps(kept, low, low + shape.m), shape, fmt))
        assert found == state_read_bytes(shape, shape.m, 2, state, word_bits)
        if shape.pool:
            assert found == state_written_bytes(shape, 2, state, word_bits)


def test_packing_bit_by_bit() -> None:
    shape = Shape(n=1, m=1, k=1, rows=2, columns=4, pool=Pool(window=2, stride=2))
    x = np.array([[0, ONE, 0, 0], [ONE, 0, 0, ONE + 1]], np.uint32).reshape(1, 2, 4, 1)

    def bits(state: str) -> bytes:
        return packed(keep_state(x, shape, state, BINARY32), shape, BINARY32)

    assert bits("32") == x.astype("<u4").tobytes()
    # mask 0100 1001, first element in the lowest bit; then the positions 1 and 3
    assert bits("1") == bytes([0b10010010, 0b1101])
    # position 1, mask 1; position 3, mask 1
    assert bits("pooled") == bytes([0b111_011])
    x[0, 0, 3] = ONE + 1  # a tie: position 1
    assert bits("pooled") == bytes([0b011_011])


def test_pooled_state_keeps_the_mask_of_the_maximum() -> None:
    shape = Shape(n=1, m=1, k=1, rows=2, columns=4, pool=Pool(window=2, stride=2))
    x = np.zeros((1, 2, 4, 1), np.uint32)
    x[0, 1, 2] = ONE
    kept = keep_state(x, shape, "pooled", BINARY32)
    assert kept.mask is not None
    assert kept.position is not None
    assert kept.mask.ravel().tolist() == [False, True]
    assert kept.position.ravel().tolist() == [0, 2]


def test_a_layer_without_relu_and_maxima_keeps_nothing() -> None:
    shape = shape_of("average", 2, 2, use_relu=False)
    activation, delta = operands(shape, BINARY32)
    for state in STATES:
        kept = keep_state(activation, shape, state, BINARY32)
        assert packed(kept, shape, BINARY32) == b""
        assert unpool(delta, kept, shape, BINARY32).any()


def test_average_is_undone_with_the_factor_of_the_forward_pass() -> None:
    shape = shape_of("average", 3, 3, use_relu=False)
    activation, _ = operands(shape, BINARY32)
    ones = np.full((2, 2, 2, 3), ONE, np.uint32)
    got = unpool(ones, keep_state(activation, shape, "1", BINARY32), shape, BINARY32)
    single = np.zeros((1, 3, 3, 1), np.uint32)
    single[0, 0, 0] = ONE
    assert set(got[:, :6, :6].ravel()) == {
        average_pool(single, Pool(window=3, stride=3), BINARY32).item()
    }
    assert not got[:, :, 6].any()  # no window there


def test_wrong_kinds_and_sizes_are_refused() -> None:
    shape = shape_of("max", 2, 2)
    activation, delta = operands(shape, BINARY32)
    with pytest.raises(ValueError, match="kind of state must be one of 32, 1, pooled, not '2'"):
        keep_state(activation, shape, "2", BINARY32)
    kept = keep_state(activation, shape, "1", BINARY32)
    with pytest.raises(ValueError, match=r"delta must be of size \(3, 3\), not \(2, 3\)"):
        unpool(delta[:, :2], kept, shape, BINARY32)
