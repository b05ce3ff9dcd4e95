"""Tests of which ``make test`` runs a sample of the parameters, and ``make test-full`` the rest."""

from collections.abc import Iterable

import pytest


def mark_the_rest(items: Iterable[pytest.Item]) -> None:
    """Mark ``full`` the cases of each test with ``sample(N)``, but for N that are evenly spaced.

    Cases that are marked ``full`` already count as none.
    """
    cases: dict[object, list[pytest.Item]] = {}
    for item in items:
        if item.get_closest_marker("sample") and not item.get_closest_marker("full"):
            cases.setdefault(item.nodeid.partition("[")[0], []).append(item)
    for some in cases.values():
        marker = some[0].get_closest_marker("sample")
        assert marker is not None
        (most,) = marker.args
        kept = {len(some) * each // most for each in range(most)}
        for at, item in enumerate(some):
            if at not in kept:
                item.add_marker(pytest.mark.full)
