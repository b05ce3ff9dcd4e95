"""The time of modules that run one after the other; each is loaded into a card before it runs."""

from __future__ import annotations

from collections.abc import Sequence


def seconds(modules: Sequence[float], cards: int, load: float, rounds: int = 1) -> float:
    """Return the seconds of ``rounds`` rounds of modules.

    A module starts when the previous module is done and its own card is loaded. A card starts to
    load its next module when its current module ends. The first modules wait for their loading.

    Args:
        modules: seconds of each module.
        cards: number of cards.
        load: seconds to load a card.
        rounds: number of rounds.
    """
    ends = [0.0] * cards
    for place in range(rounds * len(modules)):
        start = max(ends[-1], ends[-cards] + load)
        ends = [*ends[1:], start + modules[place % len(modules)]]
    return ends[-1]


def round_seconds(modules: Sequence[float], cards: int, load: float) -> float:
    """Return the seconds of one round in an endless sequence of rounds."""
    settled = cards  # after this number of rounds the first loads have no effect
    before, after = (seconds(modules, cards, load, rounds) for rounds in (settled, 2 * settled))
    return (after - before) / settled
