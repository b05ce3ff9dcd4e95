from __future__ import annotations

import pytest

from merp.models.comparison.fcnn_printed import lenet_seconds, published

ROWS = published()


def test_how_many_of_each_class() -> None:
    assert {cls: sum(row.cls == cls for row in ROWS) for cls in "EDFPN"} == {
        "E": 19, "D": 7, "F": 6, "P": 13, "N": 7
    }  # fmt: skip


def test_our_reading_of_table_5() -> None:
    found = [each for pair in lenet_seconds().values() for each in pair]
    assert found == pytest.approx(
        [0.524, 1.358, 0.516, 0.599, 4.691, 9.391, 0.143, 0.166, 0.923, 1.837, 0.028, 0.042],
        abs=5e-4,
    )
    assert sum(found) == pytest.approx(20.22, abs=0.005)
