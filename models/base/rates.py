"""Stochastic gradient descent: what of it is built, and the words of its factors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple


class UpdateRule(NamedTuple):
    """What an update does beside w - lr*g; it is built, or it is not there."""

    momentum: bool = False
    weight_decay: bool = False


PLAIN = UpdateRule()


@dataclass(frozen=True, kw_only=True)
class Rates:
    """Hyperparameters of stochastic gradient descent, as the hardware's registers hold them.

    Attributes:
        rate: word of the learning rate over the batch size, as gradients are sums.
        momentum: word of the momentum; +0 for none.
        weight_decay: word of the weight decay times the batch size, for the same reason; +0 for
            none.
    """

    rate: int
    momentum: int = 0
    weight_decay: int = 0

    @property
    def rule(self) -> UpdateRule:
        """What must be built for them."""
        return UpdateRule(self.momentum != 0, self.weight_decay != 0)
