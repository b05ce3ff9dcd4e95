from __future__ import annotations

import pytest

from merp.models.comparison.reproduction import Place

TABLE = Place("table I")


@pytest.mark.parametrize(
    ("printed", "found", "holds"),
    [
        ("4.8", 4.8499, True), ("4.8", 4.851, False), ("80", 79.5, True), ("80", 79.4, False),
        ("62.06", 62.0649, True), ("62.06", 62.066, False),
    ],
)  # fmt: skip
def test_exact_means_the_printed_digits(printed: str, found: float, holds: bool) -> None:
    assert TABLE.exact("a", "", printed, found).holds == holds


def test_operands_may_be_rounded_too() -> None:
    assert not TABLE.exact("a", "", "89.04", 89.08).holds
    assert TABLE.exact("a", "", "89.04", 89.08, operands=0.0005).holds


def test_a_stated_error_is_the_most() -> None:
    assert TABLE.follows("a", "", "100", 100.2, 0.0021).holds
    assert not TABLE.follows("a", "", "100", 100.3, 0.0021).holds


def test_a_fit_has_its_residual_and_a_percent() -> None:
    assert TABLE.fitted("a", "", "100", 102.9, 0.02).holds
    assert not TABLE.fitted("a", "", "100", 103.1, 0.02).holds


def test_a_reading_may_be_a_tenth_off() -> None:
    assert TABLE.read_as("a", "", "100", 109, "b").holds
    assert not TABLE.read_as("a", "", "100", 111, "b").holds


def test_what_fails_is_seen_when_it_no_longer_does() -> None:
    assert TABLE.fails("a", "", "100", 98, "b").holds
    assert not TABLE.fails("a", "", "100", 99.5, "b").holds
    assert TABLE.fails("a", "", "100", None, "b").holds


def test_a_claim_holds_or_not() -> None:
    assert TABLE.claims("a", holds=True, why="b").holds
    assert not TABLE.claims("a", holds=False, why="b").holds
