"""Run-time registers of the schedule: its passes and the number of images."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from merp.models.base.register_table import RegisterTable, RunRegister, switch
from merp.models.machines.mac_array.params.design import ArrayDesign
from merp.models.machines.mac_array.params.schedule_layout import MAX_PASSES

MAX_IMAGES: Final = (1 << 16) - 1
"""Most images of a run."""


@dataclass(frozen=True)
class ScheduleRun:
    """A run of a schedule.

    Attributes:
        passes: passes of an image.
        images: images of the batch.
        load: whether the run first loads the words of its passes.

    Raises:
        ValueError: a value is out of range. The message names the key and the allowed values.
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
        "load", "the run first loads the words of its passes, otherwise it uses those of an "
        "earlier run",
        lambda run: run.load,
    ),
))  # fmt: skip
"""Registers of the schedule in the order of their signals."""
