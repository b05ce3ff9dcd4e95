"""Parameters of tests that only ``make test-full`` runs."""

from __future__ import annotations

from typing import Any

import pytest


def in_full(*values: Any) -> list[Any]:
    """Each value as a parameter that is marked ``full``."""
    return [pytest.param(value, marks=pytest.mark.full) for value in values]


def rows_in_full(*rows: tuple[Any, ...]) -> list[Any]:
    """Each row, of as many values as the test has parameters, marked ``full``."""
    return [pytest.param(*row, marks=pytest.mark.full) for row in rows]
