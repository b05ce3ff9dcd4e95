"""Cycle model of the flow control of a kernel update: sums over positions, then the update.

The slots are walked in the order of the design's ``ku_kind``. After the last slot, all gradients
are read out.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import gcd

import numpy as np

from merp.models.base.folded_shape import FoldedShape, run_shape
from merp.models.base.rates import PLAIN, UpdateRule
from merp.models.base.shape import Shape
from merp.models.base.widened_shape import WidenedShape
from merp.models.machines.cnn_merp.params import latencies
from merp.models.machines.cnn_merp.params.design import EngineDesign
from merp.models.machines.cnn_merp.params.kernel_update_registers import gradient_latency
from merp.models.machines.cnn_merp.position_flow import position_walk
from merp.models.machines.cnn_merp.row_flow import row_walk


@dataclass(frozen=True)
class UpdateFlow:
    """Cycles of a kernel update; every stream offers or takes a word in every cycle.

    Attributes:
        fill: from the first accepted map word to the first slot.
        issue: slots.
        stall_input, stall_hazard: cycles without a slot between the first and the last slot.
        drain: after the last slot: the update of every kernel and bias.
    """

    fill: int
    issue: int
    stall_input: int
    stall_hazard: int
    drain: int

    @property
    def total(self) -> int:
        """Cycles from the first accepted map word to the last updated bias."""
        return self.fill + self.issue + self.stall_input + self.stall_hazard + self.drain


def update_flow(
    shape: Shape, images: int, design: EngineDesign, rule: UpdateRule = PLAIN
) -> UpdateFlow:
    """Walk every cycle up to the last slot; the update after it takes a beat per cycle.

    A beat has ``kernel_port`` elements, at most a kernel. Bias gradients are read one by one.
    """
    walk = row_walk if design.ku_kind == "row" else position_walk
    drain = gradients_there(design) + read_out(shape, design, rule)
    fill, issue, stall_input, stall_hazard = walk(shape, images, design)
    return UpdateFlow(fill, issue, stall_input, stall_hazard, drain)


def gradients_there(design: EngineDesign) -> int:
    """Return the cycles from the last slot until all gradients can be read."""
    return latencies.SLOT + gradient_latency(design)


def read_out(shape: Shape, design: EngineDesign, rule: UpdateRule = PLAIN) -> int:
    """Return the cycles from the first gradient that is read to the last output word."""
    step = design.mul_latency + design.add_latency
    stages = latencies.GRADIENT_READ + latencies.GRADIENT_CHOICE + step * (1 + sum(rule))
    if design.kernel_port > 1:
        stages += design.round_latency + latencies.GRADIENT_GEAR + latencies.UPDATE_ENTRY
    return stages + _kernel_cycles(shape, design) + shape.m + latencies.LEAVE


def _kernel_cycles(shape: Shape, design: EngineDesign) -> int:
    """Return the cycles in which gradients of kernels are listed and output.

    Taps that a smaller kernel lacks are skipped, up to its last one. With several elements to a
    beat, reads may lack some.
    """
    run, port = run_shape(shape, design.k), design.kernel_port
    if port == 1 or not (design.folded or design.widened):
        reach = run.reach if isinstance(run, WidenedShape) else shape.k**2
        return -(-shape.m * shape.n * reach // design.kernel_beat)
    # The number of elements of each read of a kernel, or of all kernels of an output map.
    own = run.kernel if isinstance(run, WidenedShape) else run.k
    tap_row, tap_column = np.divmod(np.arange(design.taps), design.k)
    taps = (tap_row < own) & (tap_column < own)
    periods = run.m * run.n
    if isinstance(run, FoldedShape):
        taps, periods = np.tile(taps, run.n), run.m
        taps[run.elements :] = False
    tap = np.arange(len(taps))
    read = tap % design.taps // design.gradient_read + tap // design.taps * design.gradient_reads
    reads = read[taps] + 1  # up to the read that has each element
    size = len(reads)
    beats = -(-periods * size // port)
    # The waits of beats are periodic, except that reads may fall behind more and more, or less.
    cycle = size // gcd(size, port)
    beat = np.unique(np.r_[1 : min(cycle, beats) + 1, max(1, beats - cycle) : beats + 1])
    before, at = np.divmod(np.minimum(beat * port, periods * size) - 1, size)
    behind = int((before * reads[-1] + reads[at] - beat).max())
    return beats + behind + 1  # none is read while the last ones are output
