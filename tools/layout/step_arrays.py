"""The part ``layout`` of a machine: the arrays of a training step, and the passes that use them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol

from merp.models.memory.layout import Array, Part
from merp.models.network.network import Network


class Pass(NamedTuple):
    """A pass of a training step.

    Attributes:
        layer: name of the layer.
        phase: name of the phase.
        group: number of the group; of the image, if the machine has a pass for each image.
        parts: the part of an array that each port reads or writes, by name of the port. A port that
            moves no words is not there.
    """

    layer: str
    phase: str
    group: int
    parts: Mapping[str, Part]


class StepArrays(NamedTuple):
    """The arrays of a training step, and its passes.

    Attributes:
        arrays: the arrays, in the order of their addresses.
        passes: the passes, in the order of a step.
    """

    arrays: Sequence[Array]
    passes: Sequence[Pass]


class MachineLayout(Protocol):
    """The part ``layout`` of a machine."""

    def __call__(self, network: Network, images: int, *, momentum: bool) -> StepArrays:
        """Return the arrays and passes of a step.

        Args:
            network: a network on the machine.
            images: images of a step.
            momentum: whether memory has velocities.

        Raises:
            BadInput: the machine cannot run the step from arrays in memory.
        """
