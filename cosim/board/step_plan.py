"""A training step as lists of passes, which move words between arrays and engines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from merp.models.fpga.resources import Resources
from merp.models.memory.layout import Array, Part
from merp.testbenches.top.top import Top


@dataclass(frozen=True)
class PlannedPass:
    """A pass of a step.

    Attributes:
        layer: name of the layer.
        phase: name of the phase.
        number: number of the group, or of the image.
        engine: name of the engine.
        config: value of each setting of the engine.
        parts: the part of an array that each stream of the engine reads or writes. A stream that
            moves no words is not there.
    """

    layer: str
    phase: str
    number: int
    engine: str
    config: Mapping[str, int]
    parts: Mapping[str, Part]

    def __str__(self) -> str:
        """Return its name in messages."""
        return f"{self.layer} {self.phase} {self.number}"


@dataclass(frozen=True)
class StepPlan:
    """The engines of a step, its arrays, and its lists.

    Attributes:
        tops: the engines by name.
        arrays: the arrays by name.
        lists: the passes of each ring of the host, by a name for the ring, in the order of a step.
        resources: estimated resources of each engine, by name; None without an estimate.
    """

    tops: Mapping[str, Top]
    arrays: Mapping[str, Array]
    lists: Mapping[str, Sequence[PlannedPass]]
    resources: Mapping[str, Resources] | None = None
