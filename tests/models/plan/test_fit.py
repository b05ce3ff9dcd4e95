"""Whose designs a network is planned on, and when the best ones are looked for unasked."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import pytest

from merp.models.errors import BadInput
from merp.models.network.network import Network
from merp.models.plan import fit
from merp.models.plan.plan import GOALS, plan
from merp.models.plan.planned import Plan
from merp.tools.common.boards import open_board
from merp.tools.common.shipped import open_network

KC705 = open_board("kc705")
SMALL = open_network("vgg16-small")


def short(name: str) -> Network:
    """The first four layers."""
    network = open_network(name)
    return replace(network, layers=network.layers[:4])


def planned(network: Network, goal: str) -> Plan:
    return plan(network, KC705, 2, goal)


def seconds(found: Plan) -> float:
    return found.seconds


def test_the_best_designs_are_those_of_the_file_or_those_for_the_board() -> None:
    quickest = partial(fit.quickest, goals=GOALS, planned=planned, seconds=seconds)
    network = short("vgg16-small")
    shipped, best = quickest(network, fit.SHIPPED), quickest(network, fit.BEST)
    assert shipped.chosen == ()
    assert shipped.seconds == planned(network, GOALS[0]).seconds
    assert best.chosen == ("auto3",)
    assert best.seconds < shipped.seconds
    wide = replace(network, designs=dict(best.network.designs))
    wide = replace(wide, layers=tuple(replace(x, design="auto3") for x in wide.layers))
    assert quickest(wide, fit.BEST).seconds <= best.seconds


def test_designs_that_a_file_leaves_out_are_chosen_whatever_the_fit() -> None:
    network = open_network("mnist-8-8")
    for asked in fit.FITS:
        assert fit.quickest(network, asked, GOALS, planned, seconds).chosen


def test_what_cannot_be_planned_is_refused_with_the_reason() -> None:
    def none(network: Network, goal: str) -> Plan:
        raise BadInput(f"{network.name} for {goal}: no room")

    with pytest.raises(BadInput, match=r"^vgg16-small for time: no room"):
        fit.quickest(SMALL, fit.BEST, GOALS, none, seconds)
    assert fit.faster(SMALL, planned(short("vgg16-small"), "time"), none) is None


@pytest.mark.parametrize(("share", "says"), [(1.05, False), (1.15, True)])
def test_the_best_designs_are_worth_a_line_beyond_a_tenth(share: float, says: bool) -> None:
    network = short("vgg16-small")
    best = fit.quickest(network, fit.BEST, GOALS[:1], planned, seconds)
    asked: list[Network] = []

    def again(bare: Network, goal: str) -> Plan:
        asked.append(bare)
        assert goal == best.goal
        return best

    more = (share - 1) * best.seconds / best.loads
    late = replace(best, board=replace(KC705, load_seconds=KC705.load_seconds + more))
    assert late.seconds == pytest.approx(share * best.seconds)
    assert (fit.faster(network, late, again) is best) is says
    assert [each.designs for each in asked] == [{}]


def test_large_networks_and_those_without_designs_are_not_searched_unasked() -> None:
    found = planned(short("vgg16-small"), "bytes")
    calls: list[str] = []

    def count(network: Network, goal: str) -> Plan:
        calls.append(network.name)
        return found

    many = replace(SMALL, layers=SMALL.layers[:1] * (fit.SEARCHED + 1))
    assert fit.faster(many, found, count) is None
    assert fit.faster(open_network("mnist-8-8"), found, count) is None
    assert calls == []
    assert fit.faster(replace(many, layers=many.layers[1:]), found, count) is None
    assert calls == ["vgg16-small"]


@pytest.mark.parametrize("name", ["vgg16", "vgg19"])
def test_the_shipped_vgg_is_within_a_tenth_of_the_best(name: str) -> None:
    network = open_network(name)
    on_board = partial(plan, board=KC705, batch=128)
    found = on_board(network)
    assert fit.faster(network, found, lambda each, goal: on_board(each, goal=goal)) is None
    small = open_network(f"{name}-small")
    assert on_board(small).seconds > 2 * found.seconds
