"""Parameters of tests with marks: what only ``make test-full`` runs, and engines."""

from collections.abc import Iterable
from typing import Any

import pytest

from needed_tools import ENGINES


def in_full(*values: Any) -> list[Any]:
    """Each value as a parameter that is marked ``full``."""
    return [pytest.param(value, marks=pytest.mark.full) for value in values]


def few(values: Iterable[Any], *quick: Any) -> list[Any]:
    """All values; those that are not ``quick`` are marked ``full``."""
    return [each if each in quick else in_full(each)[0] for each in values]


def few_rows(rows: Iterable[tuple[Any, ...]], *quick: tuple[Any, ...]) -> list[Any]:
    """All rows, as in ``rows_in_full``; those that are not ``quick`` are marked ``full``."""
    return [each if each in quick else rows_in_full(each)[0] for each in rows]


def rows_in_full(*rows: tuple[Any, ...]) -> list[Any]:
    """Each row, of as many values as the test has parameters, marked ``full``."""
    return [pytest.param(*row, marks=pytest.mark.full) for row in rows]


def engines(*names: str) -> list[Any]:
    """Engines, those that have a mark with it."""
    return [
        pytest.param(name, marks=getattr(pytest.mark, name)) if name in ENGINES else name
        for name in names
    ]
