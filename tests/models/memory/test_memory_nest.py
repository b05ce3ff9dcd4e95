"""Walks are found again from the addresses that they visit."""

from collections.abc import Iterator
from itertools import pairwise, permutations, product
from random import Random

import numpy as np
import pytest
from movers import drawn_walk

from merp.models.memory.nest import nest, visited
from merp.models.memory.params.memory_port import MemoryPort
from merp.models.memory.params.mover import DIMENSIONS, Mover
from merp.models.memory.walk import Dimension, Walk

MOVER = Mover(port=MemoryPort(data_bits=64), word_bits=16, count_bits=8)


def found_again(addresses: list[int]) -> Walk:
    """The walk of some addresses, which has them."""
    walk = nest(np.array(addresses))
    assert walk is not None
    assert list(walk.addresses()) == addresses
    assert len(walk.dimensions) <= DIMENSIONS
    return walk


def counts_of(total: int) -> Iterator[tuple[int, ...]]:
    """All counts of dimensions that together have so many steps, none of a single step."""
    if total == 1:
        yield ()
    for count in range(2, total + 1):
        if total % count == 0:
            yield from ((count, *outer) for outer in counts_of(total // count))


def every_walk(total: int, highest: int) -> set[tuple[int, ...]]:
    """The addresses of all walks of so many words with addresses from 0 to ``highest``."""
    visits = set()
    for words in range(1, total + 1):
        for counts in counts_of(total // words) if total % words == 0 else ():
            for strides in product(range(-highest, highest + 1), repeat=len(counts)):
                dimensions = tuple(map(Dimension, counts, strides))
                for base in range(highest + 1):
                    visits.add(tuple(Walk(base, words, dimensions).addresses()))
    return {each for each in visits if 0 <= min(each) and max(each) <= highest}


@pytest.mark.parametrize("seed", range(30))
def test_visited_has_the_addresses_in_their_order(seed: int) -> None:
    walk = drawn_walk(Random(seed), MOVER)
    found = visited(walk)
    assert found.tolist() == list(walk.addresses())
    assert (found.dtype, found.shape) == (np.dtype(np.int64), (walk.total,))


@pytest.mark.parametrize("seed", range(60))
def test_boxes_in_another_order_of_axes_are_found_again(seed: int) -> None:
    rng = Random(seed)
    shape = [rng.choice([1, 2, 3, 4, 6]) for _ in range(rng.randint(1, 5))]
    starts = [rng.randrange(size) for size in shape]
    part = tuple(
        slice(start, rng.randint(start + 1, size), rng.choice([1, 1, 1, 2]))
        for start, size in zip(starts, shape, strict=True)
    )
    places = np.arange(np.prod(shape)).reshape(shape)[part]
    found_again(places.transpose(rng.sample(range(len(shape)), len(shape))).ravel().tolist())


@pytest.mark.parametrize("far", [3, 200])
@pytest.mark.parametrize("seed", range(40))
def test_walks_with_strides_of_either_sign_are_found_again(seed: int, far: int) -> None:
    """Strides up to 3 often continue a run or a dimension, or return to the same words."""
    walk = drawn_walk(Random(seed), MOVER, most_words=3, far=far)
    found_again(list(walk.addresses()))


@pytest.mark.parametrize(("total", "highest"), [(1, 3), (2, 3), (3, 3), (4, 3), (6, 2), (8, 1)])
def test_addresses_that_no_walk_has_give_none(total: int, highest: int) -> None:
    """Of all sequences of a few addresses, walks have exactly those that are found."""
    walks = every_walk(total, highest)
    for addresses in product(range(highest + 1), repeat=total):
        if addresses in walks:
            found_again(list(addresses))
        else:
            assert nest(np.array(addresses)) is None, addresses


@pytest.mark.parametrize(
    ("addresses", "walk"),
    [
        ([5], Walk(5, 1)),
        ([0], Walk(0, 1)),
        ([7, 8, 9], Walk(7, 3)),
        ([9, 8, 7], Walk(9, 1, (Dimension(3, -1),))),
        ([4, 4, 4], Walk(4, 1, (Dimension(3, 0),))),
        ([40, 41, 30, 31, 20, 21], Walk(40, 2, (Dimension(3, -10),))),
        # the second dimension continues the first one, and becomes a part of it
        ([0, 5, 10, 15, 20, 25], Walk(0, 1, (Dimension(6, 5),))),
        # each step begins within the one before
        ([0, 1, 2, 1, 2, 3], Walk(0, 3, (Dimension(2, 1),))),
        ([0, 5, 6, 11, 12, 17], Walk(0, 1, (Dimension(2, 5), Dimension(3, 6)))),
        # the second half continues the stride of 7 by chance; the second pair of each does not
        ([0, 7, 3, 10, 17, 24, 20, 27], Walk(0, 1, tuple(map(Dimension, (2, 2, 2), (7, 3, 17))))),
    ],
)
def test_walks_by_hand(addresses: list[int], walk: Walk) -> None:
    assert found_again(addresses) == walk


@pytest.mark.parametrize(
    "addresses",
    [
        [0, 1, 2, 4],  # runs of three words and of one
        [0, 1, 3, 4, 5],  # runs of two and three words
        [0, 2, 4, 10, 12, 15],  # the second step has another stride
        [0, 1, 10, 11, 30, 31],  # strides of 10 and 20 in one dimension
        [0, 1, 10, 12],  # a run of two words and two of one
    ],
)
def test_sequences_that_are_no_walk_give_none(addresses: list[int]) -> None:
    assert nest(np.array(addresses)) is None


def test_a_walk_has_at_most_four_dimensions() -> None:
    """Each of these strides is twice the one before and one more, so none continues another."""
    strides = (3, 7, 15, 31, 63)
    four, five = (tuple(Dimension(2, each) for each in strides[:number]) for number in (4, 5))
    assert found_again(list(Walk(9, 2, four).addresses())) == Walk(9, 2, four)
    assert nest(np.array(list(Walk(9, 2, five).addresses()))) is None


def test_the_order_of_axes_decides_the_number_of_dimensions() -> None:
    """Six axes in any order, two of them next to each other in both orders or not."""
    places = np.arange(2**6).reshape((2,) * 6)
    for axes in permutations(range(6)):
        joined = sum(two - one == 1 for one, two in pairwise(axes))
        outside = 6 - joined - (axes[-1] == 5)  # axes after joining, without the run
        found = nest(places.transpose(axes).ravel())
        assert (found is None) == (outside > DIMENSIONS), axes
        assert found is None or len(found.dimensions) == outside
