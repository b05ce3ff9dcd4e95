"""The papers' lists and our rows, in both directions; the status follows from our value."""

from dataclasses import replace

import pytest

from merp.models.comparison.printed import DEVIATES, REPRODUCED, UNCHECKED, Printed, answered
from merp.models.comparison.published import ROWS, published
from merp.models.comparison.registry import ARCHITECTURES
from merp.models.papers.lists import CLASSES, MOST, NAMES, PaperNumber, paper

NUMBER = PaperNumber(
    place="I", what="w", unit="s", printed="100", row="r", cls="D", within=0.02, why="y"
)  # fmt: skip

each = pytest.mark.parametrize("name", NAMES)


def test_every_architecture_has_a_list_and_rows() -> None:
    assert set(NAMES) == ARCHITECTURES.keys() == ROWS.keys()


@pytest.mark.sample(2)
@each
def test_every_row_is_named_and_every_name_has_a_row(name: str) -> None:
    named = {number.row for number in paper(name).numbers} - {None}
    assert named == ROWS[name]().keys()


@pytest.mark.sample(2)
@each
def test_every_number_is_as_its_class_says(name: str) -> None:
    wrong = [row for row in published(name) if not row.holds]
    assert not wrong
    for row in published(name):
        number = row.number
        assert number.cls in CLASSES
        assert (row.found is None) == (row.status == UNCHECKED) == (number.row is None)
        assert number.cls in "ED" or number.why or number.cls == "F"
        assert number.cls not in "DFP" or number.within <= MOST


@each
def test_no_number_is_there_twice(name: str) -> None:
    keys = [(row.number.place, row.number.what, row.number.unit) for row in published(name)]
    assert len(set(keys)) == len(keys)


@pytest.mark.parametrize(
    ("found", "bound", "status"),
    [
        (101.9, "", REPRODUCED), (98.1, "", REPRODUCED), (102.1, "", DEVIATES),
        (97.9, "", DEVIATES), (50, "most", REPRODUCED), (101.9, "most", REPRODUCED),
        (102.1, "most", DEVIATES), (500, "least", REPRODUCED), (97.9, "least", DEVIATES),
        (None, "", UNCHECKED),
    ],
)  # fmt: skip
def test_status_is_that_of_our_value(found: float | None, bound: str, status: str) -> None:
    assert Printed(replace(NUMBER, bound=bound), found).status == status


def test_a_class_is_broken_by_a_changed_number() -> None:
    near, far = 101.0, 103.0
    for cls in CLASSES:
        number = replace(NUMBER, cls=cls)
        assert Printed(number, near).holds == (cls in "EDFP")
        assert Printed(number, far).holds == (cls == "N")
        assert Printed(number, None).holds == (cls == "U")


def test_a_row_that_is_missing_is_named() -> None:
    with pytest.raises(KeyError, match="r"):
        answered([NUMBER], {"other": 1.0})


@pytest.mark.parametrize(
    ("name", "what", "printed"),
    [
        ("fcnn", "tanh derivative: LUT", 5400), ("fcnn", "tanh derivative: BRAM", 23),
        ("rtl-compiler", "4X, Titan XP, batch 40", 2353.79),
        ("rtl-compiler", "2X, Titan XP, efficiency, batch 1", 1.3),
        ("fpdeep", "AMD A10, AlexNet", 34.23),
        ("fpdeep", "VGG-19, an FPGA that never waits", 38.13),
        ("mazouz", "SVHN: accuracy", 88.93), ("mazouz", "MNIST 8-8, designs 1 and 4: DSPs", 9),
        ("cnn-merp", "UltraScale, DP", 2848), ("cnn-merp", "data off the chip", 65.7),
        ("cnn-merp", "bandwidth that 4 Top/s of 32 bits need", 34.48),
    ],
)  # fmt: skip
def test_numbers_that_had_no_row_have_an_entry(name: str, what: str, printed: float) -> None:
    found = [row.number.value for row in published(name) if row.number.what == what]
    assert printed in found
