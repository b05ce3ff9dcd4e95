"""Cycles of loading kernels, if a beat is offered in every cycle.

They are checked against the hardware to the cycle. A folded layer's weights take more cycles than
their beats, because the zeros of its last map are generated on chip.
"""

from __future__ import annotations

from math import gcd
from typing import NamedTuple

from merp.models.base.folded_shape import FoldedShape, filling, folds, run_shape
from merp.models.base.shape import Shape
from merp.models.machines.cnn_merp.params.design import EngineDesign


class Load(NamedTuple):
    """Cycles in which the kernels of a run are loaded.

    Attributes:
        cycles: from the first word of the kernels to the end of the load.
        behind: those of these cycles that follow the last beat of the kernels. They write the rest
            of the data, and zeros that memory does not store.
    """

    cycles: int
    behind: int = 0


def forward_load(shape: Shape, design: EngineDesign) -> Load:
    """Return the load of forward propagation, of one group, or of a part of its maps."""
    run, zeros, beat = run_shape(shape, design.k), filling(shape, design.k), design.kernel_port
    kernels = run.n * run.m
    if beat > 1 and design.widened:
        return _piece_load(run, beat)
    if not zeros or beat == 1:
        return Load(-(-kernels * run.taps // design.kernel_beat), zeros)
    # A cycle takes the elements of a beat that belong to one output, or generates at most a beat of
    # zeros.
    inside = (shape.m - 1) - (shape.m - 1) // (beat // gcd(shape.n, beat))
    fill = -(-zeros // beat)
    words = kernels * design.taps
    end = (zeros - 1) % beat + 1  # the last zeros that are generated in a cycle
    over = int((words - end) % beat + end > beat)
    # A beat of two kernels of 2 x 2 takes two cycles.
    again = max(0, kernels - -(-words // beat))
    last_again = int(design.taps < beat and words % beat == 0)
    cycles = -(-shape.m * shape.n // beat) + inside + shape.m * fill + over + again
    return Load(cycles, fill + over + last_again)


def delta_load(shape: Shape, design: EngineDesign) -> Load:
    """Return the load of delta propagation; ``shape`` is that of forward propagation."""
    if not folds(shape, design.k):
        if design.kernel_port > 1 and design.widened:
            return _piece_load(run_shape(shape, design.k), design.kernel_port)
        return Load(-(-shape.n * shape.m * shape.k**2 // design.kernel_beat))
    # The weights of an output are written to as many units at a time as a beat has elements.
    beat, n_cu = design.kernel_port, design.n_cu
    pieces = [
        first + at
        for first in range(0, shape.n, n_cu)
        for at in range(0, min(n_cu, shape.n - first), beat)
    ]
    last_beat = (shape.m * shape.n - 1) // beat * beat
    rows = range(max(0, shape.m - beat), shape.m)
    behind = sum(row * shape.n + at > last_beat for row in rows for at in pieces)
    cycles = len(pieces) * shape.m
    if len(pieces) == 1:  # each is written to the words of the one before
        return Load(2 * cycles - 1, 2 * behind)
    return Load(cycles, behind)


def _piece_load(run: Shape, beat: int) -> Load:
    """Return the load of a design for smaller kernels: no cycle takes elements of two kernels."""
    size = run.taps
    lacking = run.filling if isinstance(run, FoldedShape) else 0
    pieces = -(-size // beat)
    of_output = run.n * size - lacking  # elements, and pieces
    cycles = (run.n - 1) * pieces - (lacking - size) // beat
    last_beat = (run.m * of_output - 1) // beat * beat
    output, at = divmod(last_beat, of_output)
    taken = output * cycles + at // size * pieces + at % size // beat + 1
    return Load(run.m * cycles, run.m * cycles - taken)
