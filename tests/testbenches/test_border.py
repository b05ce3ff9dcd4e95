"""What tops that run together know of each other, window by window, without a simulator."""

from merp.testbenches.top.border import Border, Come, Left, Together
from merp.testbenches.top.streams import Changes, Read
from merp.testbenches.top.top import Pin, TopPorts

PORTS = TopPorts(
    (), (), (), (Pin("status_done", 1),),
    arriving=(Pin("arriving_a", 8), Pin("arriving_b", 1)), leaving=(Pin("leaving_c", 8),),
)  # fmt: skip
WINDOW = 3


class Played:
    """A top that drives the number of the cycle, is done in cycle ``done``, moves in ``moves``."""

    def __init__(self, done: int, moves: set[int]) -> None:
        self.t = 0
        self.moves = moves
        self.lefts: list[Left] = []
        self.come: list[Come] = []
        border = Border(WINDOW, self.exchange)
        self.course = Together(PORTS, self.read, lambda: self.t >= done, border)

    def read(self, name: str) -> Read:
        assert name == "leaving_c"
        return lambda: self.t

    def exchange(self, left: Left) -> Come:
        self.lefts.append(left)
        return self.come[len(self.lefts) - 1]

    def cycles(self, number: int) -> list[tuple[Changes, int | None]]:
        """What comes in each cycle, and what is known of the end."""
        found = []
        for self.t in range(number):
            changes: Changes = {}
            self.course.begin(self.t, changes)
            found.append((changes, self.course.end(self.t, self.t in self.moves)))
        return found


def test_what_leaves_in_a_window_is_told_at_its_end_and_comes_a_window_later() -> None:
    top = Played(done=4, moves={1, 3})
    top.come = [
        Come([(10, 1), (11, 0), (12, 1)], 2, None),
        Come([(13, 0), (14, 0), (15, 0)], 5, None),
        Come([(16, 1), (17, 1), (18, 1)], 5, 7),
    ]
    found = top.cycles(15)
    assert [tuple(changes.values()) for changes, _ in found] == [
        *[(0, 0)] * 3,
        *[(10, 1), (11, 0), (12, 1), (13, 0), (14, 0), (15, 0)],
        (16, 1),
        *[(0, 0)] * 5,  # all are done: nothing is on its way, and nobody listens
    ]
    assert top.lefts == [
        Left([(0,), (1,), (2,)], 1, None),
        Left([(3,), (4,), (5,)], 3, 4),
        Left([(6,), (7,), (8,)], 3, 4),
    ]


def test_the_end_is_that_of_the_last_one_and_known_a_window_later() -> None:
    top = Played(done=4, moves=set())
    top.come = [Come([(0, 0)] * WINDOW, 0, None)] * 2 + [Come([(0, 0)] * WINDOW, 0, 7)]
    assert [end for _, end in top.cycles(12)] == [None] * 9 + [7] * 3


def test_a_word_has_moved_where_anybody_saw_one() -> None:
    top = Played(done=99, moves={1, 4})
    top.come = [Come([(0, 0)] * WINDOW, moved, None) for moved in (2, 2, 7)]
    top.cycles(10)
    assert top.course.moved == 7
    assert [each.moved for each in top.lefts] == [1, 4, 4]
