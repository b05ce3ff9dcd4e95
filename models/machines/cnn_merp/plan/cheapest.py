"""Lower bounds of the cost of a work with unlimited memory, on engines of many numbers of units.

A pass of all output maps costs no more than several passes that share them. Each cause of its
cycles is at most the sum over the passes, and so are its bytes. The same is true of the input maps,
with one exception: empty slots. If sums have few groups, they wait for their accumulators from map
to map; the first map of a part does not wait.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from merp.models.fpga.board import Board
from merp.models.machines.cnn_merp.params.design import EngineDesign
from merp.models.machines.cnn_merp.plan.candidates import part_sizes, totals
from merp.models.machines.cnn_merp.plan.cost import Numbers, slots_apart
from merp.models.machines.cnn_merp.plan.sized import Sized
from merp.models.machines.cnn_merp.plan.work import PhaseWork

_ROUNDED = 2e-9
"""Largest difference in seconds of equal totals with different rounding."""

_OF_UNITS = ("n_cu", "r", "p", "delta_beat")
"""The fields that affect the cost of a pass and differ between the engines of a search."""


def cheapest(
    work: PhaseWork, engines: Sequence[EngineDesign], board: Board
) -> tuple[float, Numbers]:
    """Return the least bytes of a work, and a lower bound of its seconds on each of the engines.

    The engines differ only in the fields that follow from their numbers of units, and in their
    maxima. Returns a float, and float64 with an element for each engine.
    """
    several = {
        key: np.reshape([getattr(engine, key) for engine in engines], (-1, 1, 1, 1, 1))
        for key in _OF_UNITS
    }
    together: Any = Sized(engines[0], **several)
    work = work.on(cast(EngineDesign, together))
    sizes = part_sizes(work.inputs) if _waits(work) else (work.inputs,)
    inputs = np.array(sizes)[:, np.newaxis]
    moved, seconds = totals(work.terms, board, inputs, np.array([[work.outputs]]))
    return float(moved.min()), seconds.reshape(len(engines), -1).min(axis=1) - _ROUNDED


def _waits(work: PhaseWork) -> bool:
    """Return whether sums of all output maps wait for their accumulators on one of the engines."""
    groups = -(-work.outputs // work.engine.n_cu)
    waiting = groups < slots_apart(work.engine, work.positions)
    return work.phase != "ku" and bool(np.any(waiting))
