"""The arrays of a training step in memory, and the passes that read and write them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from merp.models.memory.layout import Array, Part


class StepPass(NamedTuple):
    """A pass of a training step.

    Attributes:
        layer: name of the layer.
        phase: name of the phase.
        number: number of the group; of the image, if the machine has a pass for each image.
        parts: the part of an array that each port reads or writes, by name of the port. A port that
            moves no words is not there.
    """

    layer: str
    phase: str
    number: int
    parts: Mapping[str, Part]


class StepArrays(NamedTuple):
    """The arrays of a training step, and its passes.

    Attributes:
        arrays: the arrays by name, in the order of their addresses.
        passes: the passes, in the order of a step.
    """

    arrays: Mapping[str, Array]
    passes: Sequence[StepPass]
