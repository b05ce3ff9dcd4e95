"""Rows of a first screen, and numbers of a column."""

import pytest

from merp.tools.common.shortened import ROWS, dominant, in_one_format, shortened


def test_the_heaviest_rows_stay_in_their_order() -> None:
    assert dominant([1.0, 5.0, 2.0, 4.0, 3.0], 2) == ([1, 3], [0, 2, 4])


@pytest.mark.parametrize("count", [0, 1, ROWS, ROWS + 1])
def test_a_table_is_whole_if_a_row_of_others_would_save_nothing(count: int) -> None:
    assert dominant([1.0] * count) == (list(range(count)), [])


def test_a_row_of_others_has_all_that_have_none() -> None:
    """Even if an item is called as that row is."""
    items = [("2 others", 9), ("a", 1), ("b", 8), ("c", 2)]
    assert shortened(items, float, 2) == [("2 others", [9]), ("b", [8]), ("2 others", [1, 2])]


@pytest.mark.parametrize(
    ("values", "digits", "shown"),
    [
        ([112.9, 2.609], 2, ["112.90", "2.61"]),
        ([12_345.6, 30.1], 2, ["12,346", "30"]),
        ([0.00012, 3.0], 2, ["0.00012", "3.00000"]),
        ([0.0, None, 4.0], 1, ["0.0", "-", "4.0"]),
        ([36, 216], 0, ["36", "216"]),
        ([None, None], 2, ["-", "-"]),
        ([], 2, []),
    ],
)
def test_a_column_has_one_number_of_decimals(
    values: list[float | None], digits: int, shown: list[str]
) -> None:
    assert in_one_format(values, digits) == shown
