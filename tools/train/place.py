"""Where in a training a step stands."""

from __future__ import annotations

from typing import NamedTuple


class Place(NamedTuple):
    """A step.

    Attributes:
        seed: of the run. step, epoch: counted from 0.
    """

    seed: int
    step: int
    epoch: int
