import pytest

from merp.models.machines.mac_array.comparison.paper import DESIGNS, hidden, update_share


def test_latencies_of_the_fit() -> None:
    found = [design.epoch(batch) for design in DESIGNS for batch in (10, 20, 40)]
    assert found == pytest.approx(
        [18.578, 18.471, 18.417, 40.771, 40.368, 40.167, 100.230, 98.674, 97.896], abs=0.006
    )


def test_shares_of_the_update() -> None:
    assert 100 * update_share(DESIGNS[-1]) == pytest.approx(54.4, abs=0.05)
    assert 100 * hidden(DESIGNS[-1]) == pytest.approx(12.2, abs=0.05)
