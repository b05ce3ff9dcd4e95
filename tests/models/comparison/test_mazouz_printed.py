from __future__ import annotations

import pytest

from merp.models.comparison.mazouz_printed import published
from merp.models.comparison.printed import Printed

ROWS = published()


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.place}: {row.what}, {row.unit}")
def test_every_printed_number_is_as_its_class_says(row: Printed) -> None:
    assert row.holds, row


def test_how_many_of_each_class() -> None:
    assert {cls: sum(row.cls == cls for row in ROWS) for cls in "EDFPN"} == {
        "E": 7, "D": 2, "F": 0, "P": 0, "N": 12
    }  # fmt: skip
