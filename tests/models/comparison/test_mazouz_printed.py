from __future__ import annotations

from merp.models.comparison.mazouz_printed import published

ROWS = published()


def test_how_many_of_each_class() -> None:
    assert {cls: sum(row.cls == cls for row in ROWS) for cls in "EDFPN"} == {
        "E": 7, "D": 2, "F": 0, "P": 0, "N": 12
    }  # fmt: skip
