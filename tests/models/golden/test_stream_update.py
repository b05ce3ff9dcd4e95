"""The gradients of a streaming module: a slow loop by the definition, and binary64 in a bound."""

from math import ceil, log2

import numpy as np
import pytest

from merp.models.arithmetic.fp_add import fp_add
from merp.models.arithmetic.fp_mul import fp_mul
from merp.models.base.bits import Bits
from merp.models.base.formats import BFLOAT16, BINARY32, FloatFormat
from merp.models.base.shape import Shape
from merp.models.base.summation import StreamSummation
from merp.models.golden.stream_update import stream_gradients

RNG = np.random.default_rng(1)


def order_of(lanes: int, accumulators: int) -> StreamSummation:
    return StreamSummation(lanes=lanes, accumulators=accumulators)


def words(*size: int, fmt: FloatFormat = BINARY32) -> Bits:
    """Normal numbers, in a format that is a binary32 number with fewer fraction bits."""
    found = RNG.standard_normal(size).astype(np.float32).view(np.uint32)
    return found >> np.uint32(32 - fmt.width)


def numbers(found: Bits) -> np.ndarray:
    return found.view(np.float32).astype(np.float64)


def add(a: int, b: int, fmt: FloatFormat) -> int:
    return int(fp_add(np.uint32(a), np.uint32(b), fmt))


def tree(terms: list[int], fmt: FloatFormat) -> int:
    while len(terms) > 1:
        pairs = [terms[i : i + 2] for i in range(0, len(terms), 2)]
        terms = [add(*pair, fmt) if len(pair) == 2 else pair[0] for pair in pairs]
    return terms[0]


def slow(
    x: Bits, delta: Bits, shape: Shape, fmt: FloatFormat, order: StreamSummation
) -> tuple[list[int], list[int]]:
    """Every gradient by the definition, one addition at a time: kernels, and biases."""

    def gradient(j: int, place: tuple[int, int, int] | None) -> int:
        sums = [0] * (order.lanes * order.accumulators)
        for lane in range(order.lanes):
            count = 0
            for row in range(shape.out_rows):
                for column in range(shape.out_columns):
                    for beat in range(len(x) // order.lanes):
                        image = beat * order.lanes + lane
                        term = int(delta[image, row, column, j])
                        if place is not None:
                            i, tap_row, tap_column = place
                            r = row * shape.stride + tap_row - shape.top
                            c = column * shape.stride + tap_column - shape.left
                            inside = 0 <= r < shape.rows and 0 <= c < shape.columns
                            element = x[image, r, c, i] if inside else np.uint32(0)
                            term = int(fp_mul(element, np.uint32(term), fmt))
                        at = lane * order.accumulators + count % order.accumulators
                        sums[at] = add(sums[at], term, fmt)
                        count += 1
        return tree(sums, fmt)

    kernels = [
        gradient(j, (i, row, column))
        for j in range(shape.m)
        for i in range(shape.n)
        for row in range(shape.k)
        for column in range(shape.k)
    ]
    return kernels, [gradient(j, None) for j in range(shape.m)]


@pytest.mark.parametrize(
    ("shape", "images", "lanes", "accumulators", "fmt"),
    [
        (Shape(n=2, m=2, k=2, rows=3, columns=4, pad=1), 4, 2, 2, BINARY32),
        (Shape(n=1, m=1, k=3, rows=6, columns=5, pad=(0, 1, 2, 1), stride=2), 3, 1, 5, BFLOAT16),
        (Shape(n=1, m=3, k=1, rows=2, columns=2), 3, 3, 5, BINARY32),
        (Shape(n=1, m=2, k=3, rows=7, columns=6, stride=3), 6, 3, 3, BINARY32),
    ],
)
def test_one_addition_at_a_time(
    shape: Shape, images: int, lanes: int, accumulators: int, fmt: FloatFormat
) -> None:
    x = words(images, shape.rows, shape.columns, shape.n, fmt=fmt)
    delta = words(images, shape.out_rows, shape.out_columns, shape.m, fmt=fmt)
    # A NaN, an infinity and zeros of both signs.
    x.reshape(-1)[:2] = fmt.sign_bit
    delta.reshape(-1)[-1] = fmt.inf
    order = order_of(lanes, accumulators)
    kernels, biases = stream_gradients(x, delta, shape, fmt, order)
    wanted, wanted_biases = slow(x, delta, shape, fmt, order)
    assert kernels.reshape(-1).tolist() == wanted
    assert biases.tolist() == wanted_biases


@pytest.mark.parametrize(("lanes", "accumulators"), [(1, 5), (3, 5), (12, 2)])
def test_the_error_is_within_its_bound(lanes: int, accumulators: int) -> None:
    shape = Shape(n=3, m=4, k=5, rows=9, columns=8, pad=2, stride=1)
    x, delta = words(12, 9, 8, 3), words(12, 9, 8, 4)
    order = order_of(lanes, accumulators)
    kernels, biases = map(numbers, stream_gradients(x, delta, shape, BINARY32, order))
    padded = np.pad(numbers(x), ((0, 0), (2, 2), (2, 2), (0, 0)))
    view = np.lib.stride_tricks.sliding_window_view(padded, (5, 5), (1, 2))
    exact = np.einsum("brcj,brcikl->jikl", numbers(delta), view)
    scale = np.einsum("brcj,brcikl->jikl", np.abs(numbers(delta)), np.abs(view))
    terms = 12 * 9 * 8 / (lanes * accumulators)
    roundings = 1 + ceil(terms) + ceil(log2(lanes * accumulators))
    assert np.all(np.abs(kernels - exact) <= roundings * 2.0**-24 * scale)
    assert np.any(kernels != exact)
    magnitudes = np.abs(numbers(delta)).sum((0, 1, 2))
    assert np.all(
        np.abs(biases - numbers(delta).sum((0, 1, 2))) <= roundings * 2.0**-24 * magnitudes
    )


def test_large_sums_have_the_bits_of_small_ones() -> None:
    """The fast sums of large layers are used from a number of products on."""
    shape = Shape(n=16, m=16, k=3, rows=12, columns=12, pad=1)
    x, delta = words(4, 12, 12, 16), words(4, 12, 12, 16)
    order = order_of(2, 5)
    kernels, _ = stream_gradients(x, delta, shape, BINARY32, order)
    first = Shape(n=1, m=1, k=3, rows=12, columns=12, pad=1)
    alone, _ = stream_gradients(x[..., 5:6], delta[..., 7:8], first, BINARY32, order)
    assert np.array_equal(kernels[7, 5], alone[0, 0])


@pytest.mark.parametrize(
    ("order", "named"),
    [
        (lambda: order_of(0, 1), "lanes must be at least 1, not 0"),
        (lambda: order_of(1, 0), "accumulators must be at least 1, not 0"),
    ],
)
def test_an_order_that_does_not_fit_is_refused(order: object, named: str) -> None:
    with pytest.raises(ValueError, match=named):
        order()  # type: ignore[operator]


def test_maps_of_another_size_are_refused() -> None:
    shape = Shape(n=1, m=1, k=1, rows=2, columns=2)
    with pytest.raises(ValueError, match="delta must be of size"):
        stream_gradients(words(1, 2, 2, 1), words(1, 1, 2, 1), shape, BINARY32, order_of(1, 1))
    with pytest.raises(ValueError, match="images must be a multiple of 2 lanes, not 1"):
        stream_gradients(words(1, 2, 2, 1), words(1, 2, 2, 1), shape, BINARY32, order_of(2, 1))
