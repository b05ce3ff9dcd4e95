"""The dice, and what they decide without looking at anything else."""

import itertools
from collections.abc import Iterator
from random import Random

from random_designs.kinds import Kind


class Luck:
    """What decides about a design.

    Attributes:
        dice: decides everything.
        features: names of what the design may have.
    """

    def __init__(self, dice: Random, features: frozenset[str]) -> None:
        self.dice = dice
        self.features = features
        self._counts: dict[str, Iterator[int]] = {}

    def has(self, *features: str) -> bool:
        """Whether a design may have all these."""
        return self.features.issuperset(features)

    def chance(self, rate: float) -> bool:
        """Whether luck decides for it."""
        return self.dice.random() < rate

    def fresh(self, stem: str) -> str:
        """A new name."""
        return f"{stem}{next(self._counts.setdefault(stem, itertools.count()))}"

    def kind(self) -> Kind:
        """What a new signal holds."""
        if self.has("width 1") and self.chance(0.08):
            return Kind(0, 1)
        if self.has("odd bounds") and self.chance(0.3):
            low = self.dice.randint(-20 if self.has("signed") else 0, 20)
            return Kind(low, low + self.dice.choice([2, 5, 9, 13, 24, 60, 100, 1000]))
        width = self.dice.choice([2, 3, 3, 4, 4, 5, 6, 7, 8, 8, 8, 9, 12, 16])
        if self.has("wide") and self.chance(0.3):
            width = self.dice.choice([17, 24, 31, 32, 32, 33, 36, 40])
        modular = self.has("modbv") and self.chance(0.2)
        if self.has("signed") and self.chance(0.4):
            return Kind(-1 << (width - 1), (1 << (width - 1)) - 1, modular=modular)
        return Kind(0, (1 << width) - 1, modular=modular)

    def initial(self, kind: Kind) -> int:
        """A value to begin with."""
        if self.has("initial values") and self.chance(0.5):
            high = 1 if kind.symbol else kind.high
            return self.dice.randint(max(kind.low, -1000), min(high, 1000))
        return kind.zero

    def constant(self) -> int:
        """A number that a design has in it."""
        if self.has("big constants") and self.chance(0.15):
            value = (1 << self.dice.choice([31, 32, 33, 39])) + self.dice.choice([-1, 0, 1, 12345])
            return -value if self.has("signed") and self.chance(0.4) else value
        if self.has("signed") and self.chance(0.25):
            return -self.dice.choice([1, 2, 3, 5, 8, 20])
        return self.dice.choice([0, 1, 1, 2, 3, 4, 5, 7, 8, 10, 15, 16, 31, 100, 127, 255])
