"""Parts of arrays against NumPy's slices, and those that are refused."""

import re
from math import prod
from random import Random

import numpy as np
import pytest

from merp.models.memory.box import MOST_COUNT, box
from merp.models.memory.params.memory_port import MemoryPort
from merp.models.memory.params.mover import Mover
from merp.models.memory.walk import Dimension, Walk


def sliced(shape: tuple[int, ...], ranges: tuple[range, ...]) -> list[int]:
    """The places of a part, as NumPy finds them."""
    places = np.arange(prod(shape)).reshape(shape)
    return list(places[tuple(slice(each.start, each.stop) for each in ranges)].ravel())


def drawn_range(rng: Random, size: int) -> range:
    """Indices of a dimension: all of them, one or some."""
    start = rng.randrange(size)
    some = range(start, rng.randint(start + 1, size))
    return rng.choice([range(size), range(start, start + 1), some])


@pytest.mark.parametrize("seed", range(100))
def test_a_box_visits_what_numpy_slices(seed: int) -> None:
    rng = Random(seed)
    shape = tuple(rng.choice([1, 2, 3, 5, 7]) for _ in range(rng.randint(1, 5)))
    ranges = tuple(drawn_range(rng, size) for size in shape)
    walk = box(shape, ranges)
    assert list(walk.addresses()) == sliced(shape, ranges)
    assert all(each.count > 1 for each in walk.dimensions)


@pytest.mark.parametrize("shape", [(1,), (7,), (1, 1, 1), (2, 3, 4), (1, 5, 1, 6, 1, 2, 2)])
def test_a_whole_array_is_a_run(shape: tuple[int, ...]) -> None:
    assert box(shape, tuple(map(range, shape))) == Walk(0, prod(shape))


@pytest.mark.parametrize(
    ("shape", "ranges", "walk"),
    [
        # the maps of a group, side by side in all places of all images
        (
            (2, 3, 3, 8),
            (range(2), range(3), range(3), range(4, 8)),
            Walk(4, 4, (Dimension(18, 8),)),
        ),
        # whole rows, so the columns and maps of a row are a run
        ((2, 3, 4), (range(2), range(1, 3), range(4)), Walk(4, 8, (Dimension(2, 12),))),
        # dimensions of one index move the base only
        ((4, 5, 6), (range(3, 4), range(2, 3), range(1, 2)), Walk(103, 1)),
        ((4, 1, 6), (range(4), range(1), range(1, 2)), Walk(1, 1, (Dimension(4, 6),))),
        ((4, 3, 6), (range(4), range(1, 2), range(6)), Walk(6, 6, (Dimension(4, 18),))),
    ],
)
def test_dimensions_are_joined_by_hand(
    shape: tuple[int, ...], ranges: tuple[range, ...], walk: Walk
) -> None:
    assert box(shape, ranges) == walk
    assert list(walk.addresses()) == sliced(shape, ranges)


def test_dimensions_stay_apart_if_a_mover_cannot_count_their_steps() -> None:
    assert MOST_COUNT == 1 << Mover(port=MemoryPort(data_bits=64), word_bits=8).count_bits
    rows = MOST_COUNT // 256
    part = range(256), range(rows), range(1)
    assert box((256, rows, 2), part) == Walk(0, 1, (Dimension(MOST_COUNT, 2),))
    part = range(256), range(rows + 1), range(1)
    apart = Dimension(rows + 1, 2), Dimension(256, 2 * (rows + 1))
    assert box((256, rows + 1, 2), part) == Walk(0, 1, apart)


def test_a_run_has_any_length() -> None:
    assert box((1000, 1000), (range(1000), range(1000))) == Walk(0, 1_000_000)
    part = range(2), range(1000), range(1000)
    assert box((2, 1001, 1000), part) == Walk(0, 1_000_000, (Dimension(2, 1_001_000),))


@pytest.mark.parametrize(
    "part", [range(5), range(-1, 3), range(3, 6), range(2, 2), range(3, 1), range(0, 4, 2)], ids=str
)
def test_ranges_that_leave_an_array_are_refused(part: range) -> None:
    message = f"a range of 0 to 3 must hold indices, not {part}"
    for shape, ranges in (((4, 6), (part, range(6))), ((6, 4), (range(6), part))):
        with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
            box(shape, ranges)


def test_each_dimension_has_a_range() -> None:
    with pytest.raises(ValueError, match="shorter"):
        box((4, 6), (range(4),))


def test_a_part_of_too_many_dimensions_is_refused() -> None:
    """Four dimensions outside the run are the most; those of one index do not count."""
    shape, some, one = (3,) * 6, range(2), range(1)
    for ranges in ((one, *(some,) * 5), (some, some, one, some, some, some)):
        walk = box(shape, ranges)
        assert len(walk.dimensions) == 4
        assert list(walk.addresses()) == sliced(shape, ranges)
    for ranges in ((some,) * 6, (*(some,) * 5, one)):
        with pytest.raises(ValueError, match=r"^a walk has at most 4 dimensions, not 5$"):
            box(shape, ranges)
