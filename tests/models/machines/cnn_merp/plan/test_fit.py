"""Whose designs a network is planned on, and when the best ones are looked for unasked."""

from dataclasses import replace
from functools import partial
from types import SimpleNamespace
from typing import cast

import pytest

from merp.models.base.errors import BadInput
from merp.models.machines.cnn_merp.designs import designs_of
from merp.models.machines.cnn_merp.plan import fit
from merp.models.machines.cnn_merp.plan.plan import plan
from merp.models.machines.cnn_merp.plan.planned import NetworkPlan
from merp.models.network.network import Network
from merp.models.network.planning import BEST, FITS, GOALS, SHIPPED
from merp.tools.common.boards import open_board
from merp.tools.common.shipped import open_network

KC705 = open_board("kc705")
DIGITS = open_network("digits")
SMALL = replace(
    DIGITS,
    designs={name: replace(each, n_cu=1, r=1) for name, each in designs_of(DIGITS).items()},
)


def planned(network: Network, goal: str) -> NetworkPlan:
    return plan(network, KC705, 2048, goal)


def seconds(found: NetworkPlan) -> float:
    return found.seconds


def taking(share: float) -> NetworkPlan:
    """A plan that takes so many seconds."""
    return cast(NetworkPlan, SimpleNamespace(goal="time", seconds=share))


def test_the_best_designs_are_those_of_the_file_or_those_for_the_board() -> None:
    quickest = partial(fit.quickest, goals=GOALS, planned=planned, seconds=seconds)
    shipped, best = quickest(SMALL, SHIPPED), quickest(SMALL, BEST)
    assert shipped.chosen == ()
    assert shipped.seconds == planned(SMALL, GOALS[0]).seconds
    assert best.chosen == ("auto3",)
    assert best.seconds < shipped.seconds


@pytest.mark.parametrize(("file", "board"), [(1.0, 2.0), (2.0, 1.0)])
def test_the_quicker_one_is_taken_wherever_it_comes_from(file: float, board: float) -> None:
    asked: list[tuple[bool, str]] = []

    def stub(network: Network, goal: str) -> NetworkPlan:
        asked.append((bool(network.designs), goal))
        return taking(file if network.designs else board)

    assert fit.quickest(DIGITS, BEST, GOALS, stub, seconds).seconds == 1.0
    assert asked == [(True, GOALS[0]), *((False, goal) for goal in GOALS)]


def test_designs_that_a_file_leaves_out_are_chosen_whatever_the_fit() -> None:
    bare = open_network("mnist-8-8")
    for asked in FITS:
        goals: list[str] = []

        def stub(network: Network, goal: str, goals: list[str] = goals) -> NetworkPlan:
            goals.append(goal)
            return taking(1)

        fit.quickest(bare, asked, GOALS[:1], stub, seconds)
        assert goals == ["bytes"]


def test_what_cannot_be_planned_is_refused_with_the_reason() -> None:
    def none(network: Network, goal: str) -> NetworkPlan:
        raise BadInput(f"{network.name} for {goal}: no room")

    with pytest.raises(BadInput, match=r"^digits for time: no room"):
        fit.quickest(DIGITS, BEST, GOALS, none, seconds)
    assert fit.faster(DIGITS, taking(9), none) is None


@pytest.mark.parametrize(("share", "says"), [(1.09, False), (1.11, True)])
def test_the_best_designs_are_worth_a_line_beyond_a_tenth(share: float, says: bool) -> None:
    best, asked = taking(1), []

    def again(network: Network, goal: str) -> NetworkPlan:
        asked.append((len(network.designs), goal))
        return best

    assert (fit.faster(DIGITS, taking(share), again) is best) is says
    assert asked == [(0, "time")]


def test_large_networks_and_those_without_designs_are_not_searched_unasked() -> None:
    calls: list[int] = []

    def count(network: Network, goal: str) -> NetworkPlan:
        calls.append(len(network.layers))
        return taking(1)

    many = replace(DIGITS, layers=DIGITS.layers[:1] * (fit.SEARCHED + 1))
    assert fit.faster(many, taking(9), count) is None
    assert fit.faster(open_network("mnist-8-8"), taking(9), count) is None
    assert calls == []
    assert fit.faster(replace(many, layers=many.layers[1:]), taking(9), count) is not None
    assert calls == [fit.SEARCHED]


@pytest.mark.parametrize("name", ["vgg16", pytest.param("vgg19", marks=pytest.mark.full)])
def test_the_shipped_vgg_is_within_a_tenth_of_the_best(name: str) -> None:
    network = open_network(name)
    on_board = partial(plan, board=KC705, batch=128)
    found = on_board(network)
    assert fit.faster(network, found, lambda each, goal: on_board(each, goal=goal)) is None
    assert on_board(open_network(f"{name}-small")).seconds > 2 * found.seconds


@pytest.mark.parametrize("name", ["alexnet", "alexnet-1group", "alexnet-kernel1", "alexnet24"])
def test_designs_of_alexnet_fit_the_papers_part(name: str) -> None:
    found = plan(open_network(name), KC705, 2)
    assert max(engine.resources.lut for engine in found.engines) <= KC705.part.luts
