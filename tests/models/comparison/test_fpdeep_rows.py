from dataclasses import replace

import pytest

from merp.models.comparison.fpdeep_rows import (
    NODES,
    VC709,
    linear_up_to,
    most_gbits_s,
    networks,
    vgg_links,
)
from merp.tools.common.boards import any_board

NETWORKS = networks()


def test_the_board_is_the_shipped_one() -> None:
    assert replace(any_board("vc709"), flash=None) == VC709  # FPDeep loads one bitstream


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
