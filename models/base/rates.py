"""Stochastic gradient descent: the parts of its update rule, and the words of its factors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple


class UpdateRule(NamedTuple):
    """Parts of the update in addition to w - lr*g; each is included in the hardware or not."""

    momentum: bool = False
    weight_decay: bool = False


PLAIN = UpdateRule()


@dataclass(frozen=True, kw_only=True)
class Rates:
    """Hyperparameters of stochastic gradient descent, as stored in the hardware's registers.

    Attributes:
        rate: word of the learning rate divided by the batch size, because gradients are sums.
        momentum: word of the momentum; +0 for none.
        weight_decay: word of the weight decay times the batch size, for the same reason; +0 for
            none.
    """

    rate: int
    momentum: int = 0
    weight_decay: int = 0

    @property
    def rule(self) -> UpdateRule:
        """The parts of the update that these rates need."""
        return UpdateRule(self.momentum != 0, self.weight_decay != 0)
