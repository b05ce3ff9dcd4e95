"""Cycle model of the output of a half of a pass: sums wait in a FIFO, results for the port.

The rules are those of ``fused_flow``. Here the port takes a word in every cycle.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from merp.models.base.compiled_code import compiled
from merp.models.base.latencies import CREDIT_RETURN
from merp.models.base.shape import Shape
from merp.models.machines.cnn_merp.params.design import EngineDesign
from merp.models.machines.cnn_merp.params.latencies import SLOT
from merp.models.machines.cnn_merp.params.sizing import groups_of

Times = NDArray[np.int64]

RESULT_PLACES = CREDIT_RETURN + 1
"""Places for beats of results."""


class LeavingSums(NamedTuple):
    """The output stage of a half whose sums are output: a FIFO of groups of sums, then results.

    Attributes:
        places: for groups of sums.
        behind: latency from a slot to its sums.
        n_cu, last_cus: sums of a group, and of a position's last group.
        lanes: sums of a beat.
        loaded: cycle in which each group left the FIFO's memory; empty if the half outputs no sums.
        freed: the same for beats of results, the last few.
        ends: progress, see below.
    """

    places: int
    behind: int
    n_cu: int
    last_cus: int
    lanes: int
    loaded: Times
    freed: Times
    ends: Times


_GROUP, _TAKE, _BEATS, _BEAT, _RESULT, WORD, STALLS = range(7)
"""Indices of ``ends``:

- the number of groups; the cycles in which the last group was taken and output its last beat
- the number of beats; the cycle of the last beat
- the cycles in which the last result was taken and its last word was output
- waiting cycles
"""


@compiled()
def place_for(sums: LeavingSums, groups: int) -> int:
    """Return the first cycle with places for the next window's groups of sums."""
    before = sums.ends[_GROUP] + groups - sums.places - 1
    return sums.loaded[before] + 2 if before >= 0 else 0


@compiled()
def leave(sums: LeavingSums, groups: int, slot: int) -> None:
    """Output the groups of sums of a window whose first slot is ``slot``."""
    ends, kept = sums.ends, len(sums.freed)
    for group in range(groups):
        index = ends[_GROUP]
        loaded = max(slot + group + sums.behind + 1, ends[_TAKE])
        sums.loaded[index] = loaded
        taken = max(loaded + 1, ends[_BEAT])
        ends[_GROUP], ends[_TAKE] = index + 1, taken
        left = sums.last_cus if group == groups - 1 else sums.n_cu
        beat = taken
        while left > 0:
            count = min(left, sums.lanes)
            place = ends[_BEATS] % kept
            beat = max(beat + 1, sums.freed[place] + 2)
            freed = max(beat + 2, ends[_RESULT])
            sums.freed[place] = freed
            ends[_RESULT] = max(freed + 1, ends[WORD])
            ends[WORD] = ends[_RESULT] + count
            ends[_BEATS] += 1
            left -= count
        ends[_BEAT] = beat


def sums_behind(shape: Shape, images: int, design: EngineDesign) -> LeavingSums:
    """Return the output stage of ``images``; with no images nothing is output."""
    groups = groups_of(shape, design.n_cu)
    ends = np.zeros(STALLS + 1, np.int64)
    return LeavingSums(
        places=design.fifo_words,
        behind=SLOT + design.array_latency,
        n_cu=design.n_cu,
        last_cus=shape.m - (groups - 1) * design.n_cu,
        lanes=design.r,
        loaded=np.zeros(images * shape.out_rows * shape.out_columns * groups, np.int64),
        freed=np.full(RESULT_PLACES, -2, np.int64),
        ends=ends,
    )
