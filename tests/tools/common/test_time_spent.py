"""Seconds are counted once, for what is innermost; numba's compilation for itself."""

from itertools import count

import numba

from merp.tools.common.time_spent import COMPILING, OTHER, TimeSpent, compilation_told


def test_each_second_counts_for_the_innermost() -> None:
    ticks = count()
    spent = TimeSpent(lambda: next(ticks))  # each look at the clock is a second later
    with spent.on("simulating"):
        with spent.on("golden"):
            pass
        spent.turn("writing")
    assert spent.seconds() == {"golden": 1, "simulating": 2, "writing": 1, OTHER: 2}
    assert list(spent.seconds()) == [OTHER, "simulating", "golden", "writing"]


def test_what_is_moved_is_not_lost_and_not_invented() -> None:
    spent = TimeSpent(lambda: 0)
    ticks = iter([0, 0, 5, 5, 5, 5])
    spent = TimeSpent(lambda: next(ticks))
    with spent.on("simulating"):
        pass
    spent.recount("simulating", "building", 3)
    spent.recount("simulating", "building", 3)
    assert spent.seconds() == {"building": 5, OTHER: 0, "simulating": 0}


def test_compilation_counts_for_itself() -> None:
    spent = TimeSpent()

    @numba.njit
    def inner(x: int) -> int:
        return x + 1

    @numba.njit
    def outer(x: int) -> int:
        return inner(x) * 2

    with compilation_told(spent), spent.on("golden"):
        assert outer(1) == 4
        assert spent.seconds()[COMPILING] > spent.seconds().get("golden", 0)
        first = spent.seconds()[COMPILING]
        assert outer(2) == 6
    assert spent.seconds()[COMPILING] == first
    with spent.on("golden"):
        assert outer(1.5) == 5
    assert spent.seconds()[COMPILING] == first  # nobody listens any more
