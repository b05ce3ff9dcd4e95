"""Fairness: the same step for all, nothing between own boards and a common one."""

from dataclasses import replace
from typing import Any

import pytest

from merp.models.base.errors import BadInput
from merp.models.comparison.architecture import Architecture
from merp.models.comparison.compare import compare
from merp.models.comparison.fairness import unfair, useful
from merp.models.comparison.record import Record
from merp.models.comparison.registry import ARCHITECTURES
from merp.tools.common.boards import any_board
from merp.tools.common.shipped import open_network

CONV = ("conv1", "conv2")
NETWORK = open_network("lenet5")


def compared(**more: Any) -> Any:
    given = {"scope": CONV, "batch": 8} | more
    architectures = given.pop("architectures", list(ARCHITECTURES.values()))
    return compare(NETWORK, architectures, any_board, **given)


def altered(**changes: Any) -> Architecture:
    """CNN-MERP whose record is changed."""
    real = ARCHITECTURES["cnn-merp"]

    def record(plan: Any) -> Record:
        found = real.record(plan)
        return replace(found, **{k: v(found) for k, v in changes.items()})

    return replace(real, record=record)


def test_all_do_the_same_work_on_their_own_boards() -> None:
    found = compared()
    assert {record.macs for record in found.records} == {sum(useful(NETWORK, CONV, 8).values())}
    for answer in found.answers:
        if answer.record is not None:
            assert answer.record.board == answer.architecture.board
            assert answer.record.options["costs"] == "paper"
            assert answer.record.clock_mhz.value == any_board(answer.architecture.board).clock_mhz
            word = answer.architecture.word_bits
            assert word is None or answer.record.word_bits == word


@pytest.mark.parametrize("bits", [16, 32])
def test_all_are_on_one_board_with_one_word(bits: int) -> None:
    found = compared(board="vc709", word_bits=bits)
    assert found.answers
    for answer in found.answers:
        if answer.record is not None:
            assert (answer.record.board, answer.record.word_bits) == ("vc709", bits)
            assert answer.record.clock_mhz.value == 200
            assert answer.record.options["costs"] == "ours"
            assert len(answer.record.devices) == (15 if answer.architecture.all_devices else 1)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"word_bits": 16}, r"^--word 16: allowed is own"),
        ({"board": "vc709"}, r"^--board vc709: a common board needs .* allowed are 16, 32$"),
        ({"board": "maia", "word_bits": 16}, r"^--board maia: 5SGSD8: unit costs are of FPGAs"),
        ({"board": "vc710", "word_bits": 16}, r"'vc710': allowed are .*did you mean vc709\?$"),
    ],
)
def test_anything_between_is_refused(given: dict[str, Any], said: str) -> None:
    with pytest.raises(BadInput, match=said):
        compared(**given)


def test_groups_count_as_groups_and_the_first_layer_has_no_dp() -> None:
    network = open_network("alexnet")
    work = useful(network, ("conv1", "conv2"), 128)
    assert ("conv1", "dp") not in work
    assert 2 * work["conv2", "dp"] == 57_330_892_800


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"left_out": lambda found: {"conv2": "too large"}}, "conv2: too large"),
        ({"rows": lambda found: found.rows[:-1]}, "its rows are not the useful work of the step"),
        ({"rows": lambda found: (*found.rows, found.rows[0])}, "not the useful work"),
        (
            {"rows": lambda found: (replace(found.rows[0], macs=1), *found.rows[1:])},
            "not the useful work",
        ),
        ({"batch": lambda found: 9}, "another network, scope or batch"),
        ({"scope": lambda found: ("conv1",)}, "another network, scope or batch"),
    ],
)
def test_a_record_that_is_unfair_has_no_sums_beside_others(
    changes: dict[str, Any], said: str
) -> None:
    (answer,) = compared(architectures=[altered(**changes)]).answers
    assert answer.record is not None
    assert answer.comparable is None
    assert said in str(answer.why)


def test_an_architecture_without_a_plan_says_why() -> None:
    def refuse(*given: Any) -> Any:
        raise BadInput("too small")

    other = replace(ARCHITECTURES["cnn-merp"], name="other", plan=refuse)
    first, second = compared(architectures=[other, ARCHITECTURES["cnn-merp"]]).answers
    assert (first.record, first.why) == (None, "too small")
    assert second.why is None


def test_the_rule_holds_for_a_fair_record() -> None:
    (answer,) = compared(architectures=[ARCHITECTURES["cnn-merp"]]).answers
    assert unfair(answer.record, NETWORK, CONV, 8) is None
