"""Which two layers of a plan could be one pass of forward propagation on its board."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from merp.models.cnn_merp.fused_pair import fused_shape, image_slots, pairs_that_fit
from merp.models.fpga.estimate import fused_estimate
from merp.models.fpga.resources import Resources
from merp.models.network.network import Layer
from merp.models.params.cnn_merp.fused_design import FusedDesign
from merp.models.plan.plan import Plan
from merp.models.traffic.closed_form import inference_traffic


@dataclass(frozen=True)
class Fusable:
    """Two layers that fit the board fused in forward propagation.

    Attributes:
        first, second: the layers. design: with the shares of the CUs that suit them best.
        resources: of the part, by the estimate.
        slots: of an image, of the slower layer. saved: bytes of a batch in inference.
    """

    first: Layer
    second: Layer
    design: FusedDesign
    resources: Resources
    slots: int
    saved: int

    @property
    def cus(self) -> tuple[int, int]:
        """CUs of either layer, all engines."""
        return self.design.first.n_cu, self.design.groups * self.design.second.n_cu


def fusable(plan: Plan) -> Iterator[Fusable]:
    """Yield the pairs of layers that fit the board fused, in order."""
    network = plan.network
    apart = _moved(plan, ())
    for first, second, design in pairs_that_fit(network, plan.board.room):
        shape = fused_shape(network, first, second)
        slots = max(
            image_slots(shape.first, design.first.n_cu),
            image_slots(shape.second, design.second.n_cu),
        )
        saved = apart - _moved(plan, (first.name, second.name))
        yield Fusable(first, second, design, fused_estimate(design), slots, saved)


def _moved(plan: Plan, fuse: tuple[str, ...]) -> int:
    network = replace(plan.network, fuse=fuse)
    return sum(phase.bytes for _, phase in inference_traffic(network, plan.batch))
