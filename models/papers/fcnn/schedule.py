"""Modules one after the other on one card or several, each loaded before it runs."""

from __future__ import annotations

from collections.abc import Sequence


def seconds(modules: Sequence[float], cards: int, load: float, rounds: int = 1) -> float:
    """Return the time of ``rounds`` rounds of ``modules``, each of so many seconds.

    A module starts when the one before it is done and its card is loaded with it; a card is loaded
    from the end of its own last module on. The first modules wait for theirs.
    """
    ends = [0.0] * cards
    for place in range(rounds * len(modules)):
        start = max(ends[-1], ends[-cards] + load)
        ends = [*ends[1:], start + modules[place % len(modules)]]
    return ends[-1]


def round_seconds(modules: Sequence[float], cards: int, load: float) -> float:
    """Return the time of a round where rounds follow each other for ever."""
    settled = cards  # after that many rounds the first loads are forgotten
    before, after = (seconds(modules, cards, load, rounds) for rounds in (settled, 2 * settled))
    return (after - before) / settled
