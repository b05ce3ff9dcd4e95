from __future__ import annotations

import pytest

from merp.models.mazouz.elements import (
    Cost,
    convolution_cost,
    convolution_cycles,
    full_cost,
    full_cycles,
    line_buffer_blocks,
    map_blocks,
)


@pytest.mark.parametrize(
    ("side", "first", "cycles"),
    [
        (32, True, 1310.5), (28, True, 1038.5), (16, False, 410.5), (14, False, 334.5),
        (8, False, 154.5), (7, False, 131.5), (4, False, 74.5), (2, False, 46.5),
    ],
)  # fmt: skip
def test_cycles_of_a_map(side: int, first: bool, cycles: float) -> None:
    assert convolution_cycles(side, side, 3, first=first) == cycles


def test_cycles_of_a_fully_connected_layer() -> None:
    assert full_cycles(7, 5, 3, 2) == ((7 + 6) * 4 + 5) * 2


def test_memories() -> None:
    assert [line_buffer_blocks(columns, 3) for columns in (32, 1152, 1153)] == [2, 2, 4]
    assert [map_blocks(side, side) for side in (32, 33, 34, 48)] == [1, 1, 2, 2]


def test_costs() -> None:
    assert convolution_cost(3, 32, train=False) == Cost(9, 800, 2)
    assert convolution_cost(5, 32, train=True) == Cost(51, 2200, 8)
    assert full_cost(10, 8, train=False) == Cost(80, 1600, 0)
    assert full_cost(10, 1, train=True) == Cost(20, 10 * 420, 0)
