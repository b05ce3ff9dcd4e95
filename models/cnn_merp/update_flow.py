"""Flow control of a kernel update as a cycle model: sums over positions, then the update.

The slots are walked as the design's ``ku_kind`` asks; behind the last one follows the read-out of
all gradients.
"""

from __future__ import annotations

from dataclasses import dataclass

from merp.models.cnn_merp.position_flow import position_walk
from merp.models.cnn_merp.row_flow import row_walk
from merp.models.params.cnn_merp import latencies
from merp.models.params.cnn_merp.design import Design
from merp.models.params.cnn_merp.kernel_update_registers import gradient_latency
from merp.models.params.shape import Shape
from merp.models.params.widened_shape import widened


@dataclass(frozen=True)
class UpdateFlow:
    """Cycles of a kernel update, a word offered and taken in every cycle on every stream.

    Attributes:
        fill: from the first accepted map word to the first slot. issue: slots.
        stall_input, stall_hazard: cycles without a slot between the first and the last one.
        drain: behind the last slot: the update of every kernel and bias.
    """

    fill: int
    issue: int
    stall_input: int
    stall_hazard: int
    drain: int

    @property
    def total(self) -> int:
        """From the first accepted map word to the last updated bias."""
        return self.fill + self.issue + self.stall_input + self.stall_hazard + self.drain


def update_flow(shape: Shape, images: int, design: Design, momentum: bool = False) -> UpdateFlow:
    """Walk every cycle up to the last slot; the update behind it takes a beat per cycle.

    A beat has ``kernel_port`` elements, at most a kernel. Bias gradients come one by one. Taps that
    a smaller kernel lacks are passed over, up to its last one.
    """
    walk = row_walk if design.ku_kind == "row" else position_walk
    step = design.mul_latency + design.add_latency
    pipeline = latencies.GRADIENT_READ + latencies.GRADIENT_CHOICE + step * (2 if momentum else 1)
    if design.kernel_port > 1:
        pipeline += design.round_latency + latencies.GRADIENT_GEAR + latencies.UPDATE_ENTRY
    updates = -(-shape.m * shape.n * widened(shape, design.k).reach // design.kernel_beat) + shape.m
    drain = latencies.SLOT + gradient_latency(design) + pipeline + updates + latencies.LEAVE
    fill, issue, stall_input, stall_hazard = walk(shape, images, design)
    return UpdateFlow(fill, issue, stall_input, stall_hazard, drain)
