import pytest

from merp.models.machines.mac_array.comparison.fit import held_out, least_worst, without_machine
from merp.models.machines.mac_array.comparison.paper import DESIGNS, of_paper
from merp.tools.common.shipped import open_network


def test_each_network_by_the_rates_of_the_others() -> None:
    found = [held_out(design) for design in DESIGNS]
    assert [each.found for each in found] == pytest.approx([19.50, 39.34, 104.12], abs=0.01)
    assert [100 * each.error for each in found] == pytest.approx([8.26, -4.05, 8.25], abs=0.02)


def test_two_numbers_without_a_machine_fit_as_well() -> None:
    found = without_machine()
    assert 1e6 * found.linear == pytest.approx(323, abs=0.5)
    assert 1e6 * found.square == pytest.approx(40.0, abs=0.1)
    errors = [found.error(design) for design in DESIGNS]
    assert max(map(abs, errors)) == pytest.approx(0.0114, abs=1e-4)


def test_the_search_finds_the_middle_of_a_ridge() -> None:
    found = least_worst(lambda x, y: max(abs(x + y - 3), abs(x - 2 * y)), (1.5, 0.8))
    assert found == pytest.approx((2, 1), rel=1e-3)


def test_which_networks_are_the_papers() -> None:
    for design in DESIGNS:
        assert of_paper(open_network(f"cifar10-{design.times}x-fixed")) is design
    assert of_paper(open_network("digits-fixed")) is None
