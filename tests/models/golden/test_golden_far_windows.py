"""Pooling windows that hang over an edge by their stride or more, against plain loops."""

from collections import Counter

import numpy as np
import pytest

from exact import add, multiply
from golden_operands import random_words
from merp.models.arithmetic.relu import relu
from merp.models.arithmetic.words import to_values
from merp.models.base.formats import FloatFormat
from merp.models.base.shape import Pool, Shape, sides
from merp.models.base.state_field import STATES
from merp.models.golden.pooling import average_pool, max_pool
from merp.models.golden.state import keep_state, packed, unpacked
from merp.models.golden.unpool import unpool
from merp.models.machines.cnn_merp.params.registers import reciprocal_square

SMALL = FloatFormat(5, 4)
NAMED = [
    (2, 1, (0, 0, 1, 1)), (3, 1, 1), (3, 1, 2), (5, 2, 4), (3, 2, 2), (4, 1, (3, 0, 0, 3)),
]  # fmt: skip


def random_pools(rng: np.random.Generator, count: int) -> list[tuple[Pool, int, int]]:
    """Pooling with any padding that is allowed, on maps of any size that it fits."""
    found = []
    while len(found) < count:
        window, stride = int(rng.integers(1, 6)), int(rng.integers(1, 5))
        pad = tuple(int(each) for each in rng.integers(0, window, 4))
        pool = Pool(kind=str(rng.choice(["max", "average"])), window=window, stride=stride, pad=pad)
        rows, columns = (int(each) for each in rng.integers(1, 10, 2))
        if pool.rows(rows) and pool.columns(columns):
            found.append((pool, rows, columns))
    return found


def lines(pool: Pool, before: int, behind: int, elements: int) -> list[list[int]]:
    """Indices of each window along one direction, those outside left out."""
    begins = range(-before, elements + behind - pool.window + 1, pool.stride)
    return [
        [each for each in range(begin, begin + pool.window) if 0 <= each < elements]
        for begin in begins
    ]


def windows(pool: Pool, rows: int, columns: int) -> tuple[list[list[int]], list[list[int]]]:
    top, left, bottom, right = sides(pool.pad)
    return lines(pool, top, bottom, rows), lines(pool, left, right, columns)


def best(values: list[float]) -> int:
    """The first NaN, or the first of the largest."""
    found = 0
    for at, value in enumerate(values):
        if value > values[found] or (np.isnan(value) and not np.isnan(values[found])):
            found = at
    return found


def check_pooling(pool: Pool, rows: int, columns: int, rng: np.random.Generator) -> None:
    x = random_words(rng, (1, rows, columns, 2), SMALL)
    down, across = windows(pool, rows, columns)
    got = (max_pool if pool.kind == "max" else average_pool)(x, pool, SMALL)
    assert got.shape == (1, len(down), len(across), 2), pool
    for _, y, z, i in np.ndindex(*got.shape):
        part = [int(x[0, r, c, i]) for r in down[y] for c in across[z]]
        if pool.kind == "max":
            wanted = part[best([float(each) for each in to_values(part, SMALL)])]
        else:
            wanted = part[0]
            for word in part[1:]:
                wanted = add(wanted, word, SMALL).word
            wanted = multiply(wanted, reciprocal_square(pool.window, SMALL), SMALL).word
        assert got[0, y, z, i] == wanted, (pool, rows, columns)


def check_unpooling(shape: Shape, rng: np.random.Generator) -> None:
    pool = shape.pool
    assert pool
    down, across = windows(pool, shape.rows, shape.columns)
    size = 2, shape.rows, shape.columns, 2
    activation = random_words(rng, size, SMALL)
    activation[rng.random(size) < 0.3] = SMALL.one  # ties
    activation = relu(activation, SMALL) if shape.relu else activation
    delta = random_words(rng, (2, len(down), len(across), 2), SMALL)
    wanted = np.zeros(size, np.uint32)
    for image, y, z, i in np.ndindex(*delta.shape):  # raster order of the pooled elements
        places = [(r, c) for r in down[y] for c in across[z]]
        word = int(delta[image, y, z, i])
        if pool.kind == "max":
            values = [float(to_values(activation[image, r, c, i], SMALL)) for r, c in places]
            places = [places[best(values)]]
        else:
            word = multiply(word, reciprocal_square(pool.window, SMALL), SMALL).word
        for r, c in places:
            wanted[image, r, c, i] = add(int(wanted[image, r, c, i]), word, SMALL).word
    if shape.relu:
        wanted = np.where(to_values(activation, SMALL) > 0, wanted, 0)
    for kind in STATES:
        state = keep_state(activation, shape, kind, SMALL)
        np.testing.assert_array_equal(unpool(delta, state, shape, SMALL), wanted, f"{kind} {shape}")
        if kind == "pooled":
            again = unpacked(packed(state, shape, SMALL), shape, 2, 2)
            np.testing.assert_array_equal(unpool(delta, again, shape, SMALL), wanted)


@pytest.mark.parametrize("kind", ["max", "average"])
@pytest.mark.parametrize(("window", "stride", "pad"), NAMED)
def test_named_windows(kind: str, window: int, stride: int, pad: int) -> None:
    rng = np.random.default_rng(window)
    pool = Pool(kind=kind, window=window, stride=stride, pad=pad)
    assert pool.far
    check_pooling(pool, 6, 5, rng)
    check_unpooling(Shape(n=1, m=2, k=1, rows=6, columns=5, pool=pool), rng)


def test_windows_that_keep_the_size_of_a_map() -> None:
    for window, pad in ((2, (0, 0, 1, 1)), (3, 1), (5, 2), (4, (1, 2, 2, 1))):
        pool = Pool(window=window, stride=1, pad=pad)
        assert (pool.rows(7), pool.columns(1)) == (7, 1)


@pytest.mark.parametrize("seed", range(3))
def test_random_windows(seed: int) -> None:
    rng = np.random.default_rng(seed)
    for pool, rows, columns in random_pools(rng, 40):
        check_pooling(pool, rows, columns, rng)
        relu = bool(rng.integers(2))
        check_unpooling(Shape(n=1, m=2, k=1, rows=rows, columns=columns, relu=relu, pool=pool), rng)


def test_windows_at_the_edges() -> None:
    """Registers have the windows that hold the first index, and those that the last index ends."""
    for pool, rows, columns in random_pools(np.random.default_rng(5), 2000):
        found = windows(pool, rows, columns)
        first = tuple(sum(0 in each for each in line) for line in found)
        assert pool.at_first(rows, columns) == first
        ended = [Counter(each[-1] for each in line) for line in found]
        late = (ended[0][rows - 1], ended[1][columns - 1])
        assert pool.late(rows, columns) == tuple(max(0, each - 1) for each in late)
        over = max(max(map(len, found[0])), max(map(len, found[1])))
        assert over <= pool.window
        if not pool.far:
            assert first == (1, 1)
            assert pool.late(rows, columns) == (0, 0)
        # A window is completed per row of a walk that is as long as this.
        assert len(found[0]) <= rows + pool.late(rows, columns)[0]


def test_rounding_up_adds_a_partial_window_that_begins_inside() -> None:
    for pool, rows, columns in random_pools(np.random.default_rng(6), 500):
        rounded = pool.rounded_up(rows, columns)
        for elements, before, behind, count in (
            (rows, pool.top, sides(pool.pad)[2], rounded.rows(rows)),
            (columns, pool.left, sides(pool.pad)[3], rounded.columns(columns)),
        ):
            wanted = -(-(before + elements + behind - pool.window) // pool.stride) + 1
            if (wanted - 1) * pool.stride >= before + elements:  # as PyTorch has it
                wanted -= 1
            assert count == wanted, (pool, elements)


def test_the_smallest_map_that_is_pooled_to_a_size() -> None:
    for pool, rows, columns in random_pools(np.random.default_rng(7), 500):
        fitting = pool.fitting(rows, columns)
        smallest = fitting.elements(rows, columns)
        assert (fitting.rows(smallest[0]), fitting.columns(smallest[1])) == (rows, columns)
        assert (fitting.top, fitting.left) == (pool.top, pool.left)
        if pool.rows(1) <= rows and pool.columns(1) <= columns:
            assert fitting == pool


@pytest.mark.parametrize("pad", [3, (0, 0, 0, 4), -1])
def test_a_window_must_contain_an_element(pad: int) -> None:
    with pytest.raises(ValueError, match=r"pool pad must be 0 to 2 \(below the window\)"):
        Pool(window=3, stride=1, pad=pad)
