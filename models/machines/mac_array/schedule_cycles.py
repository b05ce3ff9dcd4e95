"""Cycles of a run of the schedule, by those of its passes.

``layer_schedule``: between passes the words of the next one are read, a word a cycle.
"""

from __future__ import annotations

from collections.abc import Sequence

from merp.models.machines.mac_array.params.design import ArrayDesign
from merp.models.machines.mac_array.params.schedule_layout import schedule_layout

BEGIN = 2
"""Cycles of a pass's begin beside its words: the last word's way from the memory to its registers,
and that of the start."""

END = 1
"""From the end of the last pass to that of the run."""


def cycles_between(design: ArrayDesign) -> int:
    """From the start of a run, or the end of a pass, to the start of the next pass."""
    return schedule_layout(design).words + BEGIN


def schedule_cycles(own: Sequence[int], loaded: int, design: ArrayDesign) -> int:
    """Cycles from start to done.

    Args:
        own: of each pass of each image, from its start to its end.
        loaded: passes whose words the run takes, at full rate; 0 of one that loads none.
    """
    loading = loaded * schedule_layout(design).words
    return loading + sum(own) + len(own) * cycles_between(design) + END
