from __future__ import annotations

import pytest

from merp.models.comparison.fpdeep_printed import (
    NODES,
    linear_up_to,
    most_gbits_s,
    networks,
    published,
    vgg_links,
)

ROWS = published()
NETWORKS = networks()


def test_how_many_of_each_class() -> None:
    assert {cls: sum(row.cls == cls for row in ROWS) for cls in "EDFPN"} == {
        "E": 12, "D": 10, "F": 0, "P": 4, "N": 4
    }  # fmt: skip


def test_links_of_other_readings() -> None:
    grouped = NETWORKS["AlexNet"]
    assert most_gbits_s(grouped, NODES) == pytest.approx(18.43, abs=0.005)
    open_group = {
        name: most_gbits_s(some, NODES, open_group=True) for name, some in NETWORKS.items()
    }
    assert max(open_group, key=open_group.__getitem__) == "VGG-16"
    assert open_group["VGG-16"] == pytest.approx(14.3, abs=0.05)


@pytest.mark.parametrize(("name", "guess", "part"), [("AlexNet", 84, 63), ("VGG-16", 83, 64)])
def test_where_links_end_linearity(name: str, guess: int, part: int) -> None:
    assert linear_up_to(NETWORKS[name], 17.4) == guess
    assert linear_up_to(NETWORKS[name], 13.1) == part


def test_what_balanced_weights_cost() -> None:
    assert vgg_links() == pytest.approx((14.1, 19.1), abs=0.05)
