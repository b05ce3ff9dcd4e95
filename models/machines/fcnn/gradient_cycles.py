"""Cycles of a run of a gradient module, exact if no stream waits."""

from __future__ import annotations

from typing import NamedTuple

from merp.models.machines.fcnn.params.gradient_drain import LEAVE, GradientDrain
from merp.models.machines.fcnn.params.gradient_registers import GradientRun


class GradientCycles(NamedTuple):
    """Cycles of a run.

    Attributes:
        total: from the cycle after start, which takes the first beat, to the end of the run.
        issue: beats of the walk, with blanks.
        drain: the rest: pauses after passes, and the time in which the last gradients leave.
        useful: beats with deltas.
    """

    total: int
    issue: int
    drain: int
    useful: int


def gradient_cycles(run: GradientRun) -> GradientCycles:
    """Return the cycles of a run.

    A run has ``P = n ceil(M/m)`` passes of ``Rg Cg B/G`` beats, and a pause after each pass. The
    last pass ends with its last centre, ``lead + last_centre`` beats after the first beat of the
    pass. Gradient e of its drain is at the port ``settle + e + latency + LEAVE`` cycles after this
    centre. The run ends later if the drain still reads missing maps, or if the walk then takes the
    remaining beats of the last map.
    """
    grid = run.grid
    drain = GradientDrain(grid.design)
    pauses = (grid.passes - 1) * drain.pause
    centre = (grid.passes - 1) * grid.pass_beats + pauses + grid.lead + grid.last_centre
    last = grid.last_maps * drain.map_elements - 1
    gradient = centre + drain.settle + last + drain.latency + LEAVE
    beat = grid.beats - 1 + pauses
    if beat > centre:
        beat += drain.pause
    total = max(gradient, beat, centre + drain.pause) + 1
    useful = grid.passes * grid.out_beats
    return GradientCycles(total, grid.beats, total - grid.beats, useful)
