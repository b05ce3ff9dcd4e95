"""The position of a step in a training."""

from __future__ import annotations

from typing import NamedTuple


class Place(NamedTuple):
    """The position of a step.

    Attributes:
        seed: seed of the run.
        step, epoch: counted from 0.
    """

    seed: int
    step: int
    epoch: int
