"""Run-time registers of the schedule: which passes it runs, and for how many images."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from merp.models.base.register_table import RegisterTable, RunRegister, switch
from merp.models.machines.mac_array.params.design import ArrayDesign
from merp.models.machines.mac_array.params.schedule_layout import MAX_PASSES

MAX_IMAGES: Final = (1 << 16) - 1
"""Images of a run, at most."""


@dataclass(frozen=True)
class ScheduleRun:
    """A run of a schedule.

    Attributes:
        passes: of an image. images: of the batch. load: the run brings the words of its passes.

    Raises:
        ValueError: a value is out of range; the message names the key and what is allowed.
    """

    passes: int
    images: int
    load: bool = True

    def __post_init__(self) -> None:
        """Check both numbers."""
        for key, most in (("passes", MAX_PASSES), ("images", MAX_IMAGES)):
            value = getattr(self, key)
            if not 1 <= value <= most:
                raise ValueError(f"{key} of a schedule must be 1 to {most}, not {value}")


SCHEDULE: Final[RegisterTable[ArrayDesign, ScheduleRun]] = RegisterTable("schedule_config", (
    RunRegister(
        "passes", 1, lambda design: MAX_PASSES, "passes of an image", lambda run: run.passes
    ),
    RunRegister(
        "images", 1, lambda design: MAX_IMAGES, "images of the batch", lambda run: run.images
    ),
    switch(
        "load", "the run first takes the words of its passes, else it has those of a run before",
        lambda run: run.load,
    ),
))  # fmt: skip
"""In the order of their signals."""
