"""Walks against NumPy's strides, and those that are refused."""

from random import Random

import numpy as np
import pytest
from movers import drawn_walk

from merp.models.memory.params.memory_port import MemoryPort
from merp.models.memory.params.mover import Mover
from merp.models.memory.walk import Dimension, Run, Walk

MOVER = Mover(port=MemoryPort(data_bits=64), word_bits=16, count_bits=8)


def test_runs_by_hand() -> None:
    walk = Walk(100, 2, (Dimension(2, 10), Dimension(2, -30)))
    assert list(walk.runs()) == [Run(100, 2), Run(110, 2), Run(70, 2), Run(80, 2)]
    assert list(walk.addresses()) == [100, 101, 110, 111, 70, 71, 80, 81]
    assert walk.total == 8
    assert walk.span == (70, 112)
    assert walk.jumps == (10, -40)


@pytest.mark.parametrize("seed", range(20))
def test_a_walk_visits_what_numpy_visits(seed: int) -> None:
    walk = drawn_walk(Random(seed), MOVER)
    place = np.arange(1 << 16, dtype=np.int64)
    shape = [*(each.count for each in reversed(walk.dimensions)), walk.words]
    strides = [*(each.stride * 8 for each in reversed(walk.dimensions)), 8]
    visited = np.lib.stride_tricks.as_strided(place[walk.base :], shape, strides).ravel()
    assert list(walk.addresses()) == visited.tolist()
    assert walk.total == visited.size
    assert walk.span == (visited.min(), visited.max() + 1)
    walk.check(MOVER)


TOP = (1 << 31) - 1


@pytest.mark.parametrize(
    ("walk", "message"),
    [
        (Walk(-1, 1), "base must be a whole number from 0 to 2147483647, not -1"),
        (Walk(0, 0), "words must be a whole number from 1 to 2147483648, not 0"),
        (Walk(0, TOP + 2), "words must be a whole number from 1 to 2147483648, not 2147483649"),
        (Walk(0, 1, (Dimension(257),)), "count must be a whole number from 1 to 256, not 257"),
        (Walk(0, 1, (Dimension(0),)), "count must be a whole number from 1 to 256, not 0"),
        (Walk(0, 1, (Dimension(),) * 5), "a walk has at most 4 dimensions, not 5"),
        (Walk(TOP, 2), "must have addresses from 0 to 2147483647, not 2147483647 to 2147483648"),
        (Walk(9, 1, (Dimension(2, -10),)), "must have addresses from 0 to 2147483647, not -1 to 9"),
        (Walk(0, 1, (Dimension(1, 1 << 31),)), "stride must be a whole number from"),
    ],
)
def test_walks_that_a_mover_cannot_make_are_refused(walk: Walk, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        walk.check(MOVER)


def test_the_last_word_of_memory_can_be_reached() -> None:
    Walk(TOP, 1).check(MOVER)
    Walk(0, TOP + 1).check(MOVER)
