"""Calculate the cycles of a run of the schedule from the cycles of its passes.

Between two passes, ``layer_schedule`` reads the words of the next pass, one word per cycle.
"""

from __future__ import annotations

from collections.abc import Sequence

from merp.models.machines.mac_array.params.design import ArrayDesign
from merp.models.machines.mac_array.params.schedule_layout import schedule_layout

BEGIN = 2
"""Cycles before a pass, in addition to the cycles of its words.

They cover the transfer of the last word from the memory to its registers, and the start.
"""

END = 1
"""Cycles from the end of the last pass to the end of the run."""


def cycles_between(design: ArrayDesign) -> int:
    """Return the cycles from the start of a run, or the end of a pass, to the start of the next."""
    return schedule_layout(design).words + BEGIN


def schedule_cycles(own: Sequence[int], loaded: int, design: ArrayDesign) -> int:
    """Return the cycles of a run from ``start`` to ``done``.

    Args:
        own: cycles of each pass of each image, from its start to its end.
        loaded: passes whose words the run loads, at one word per cycle; 0 if it loads none.
        design: the design of the array.
    """
    loading = loaded * schedule_layout(design).words
    return loading + sum(own) + len(own) * cycles_between(design) + END
