"""What a work costs at least, however much memory there is, on engines of many numbers of units.

A pass of all output maps moves and takes no more than passes that share them: each cause of its
cycles is at most the sum of theirs, and so are its bytes. The same holds of the input maps but for
the slots that stay empty, as sums of few groups wait for their accumulators from map to map: the
first map of a part waits for none.
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
"""Seconds by which equal totals differ at most, one of them rounded up and the other one down."""

_OF_UNITS = ("n_cu", "r", "p", "delta_beat")
"""What engines of a search differ in, of all that the cost of a pass asks for."""


def cheapest(
    work: PhaseWork, engines: Sequence[EngineDesign], board: Board
) -> tuple[float, Numbers]:
    """Return the least bytes of a work, and no more than its least seconds on each of the engines.

    The engines differ in what their numbers of units entail alone, and in their maxima. A float,
    and float64, an element for each engine.
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
    """Whether sums of all output maps wait for their accumulators on one of the engines."""
    groups = -(-work.outputs // work.engine.n_cu)
    waiting = groups < slots_apart(work.engine, work.positions)
    return work.phase != "ku" and bool(np.any(waiting))
