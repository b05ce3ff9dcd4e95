"""Pairs of layers of a plan that could be one pass of forward propagation on its board."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise

from merp.models.base.errors import BadInput
from merp.models.machines.cnn_merp.fused_pair import image_slots
from merp.models.machines.cnn_merp.plan.engines import PlannedEngine
from merp.models.machines.cnn_merp.plan.fused import fused
from merp.models.machines.cnn_merp.plan.planned import NetworkPlan
from merp.models.machines.cnn_merp.plan.words import closed_form
from merp.models.machines.cnn_merp.plan.work import POOLED
from merp.models.network.network import Layer
from merp.models.traffic.closed_form import inference_traffic


@dataclass(frozen=True)
class Fusable:
    """Two layers that fit the board if fused in forward propagation.

    Attributes:
        first, second: the layers.
        engine: with the best shares of the CUs.
        slots: of an image, of the slower layer.
        saved: bytes of a training step on the board.
        saved_in_inference: bytes of a batch in inference, where no map is cut.
    """

    first: Layer
    second: Layer
    engine: PlannedEngine
    slots: int
    saved: int
    saved_in_inference: int

    @property
    def names(self) -> tuple[str, str]:
        """Names of the layers, as a network lists them."""
        return self.first.name, self.second.name


def fusable(plan: NetworkPlan) -> Iterator[Fusable]:
    """Yield the pairs of layers that fit the board if fused, in order.

    There are none if the plan already has a fused pair, or if no hardware writes its kind of mask.
    """
    if plan.network.layer_fusion or plan.state != POOLED:
        return
    apart = {layer.name: phase for layer, phase in inference_traffic(plan.network, plan.batch)}
    for first, second in pairwise(plan.network.layers):
        planned = plan.of(first.name, "fp"), plan.of(second.name, "fp")
        try:
            engine, work = fused(plan.network, (planned[0].work, planned[1].work), plan.board)
        except BadInput:
            continue
        assert engine.pair is not None
        designs = engine.pair.first, engine.pair.second
        yield Fusable(
            first,
            second,
            engine,
            max(
                image_slots(each.work.shape, on.n_cu)
                for each, on in zip(planned, designs, strict=True)
            ),
            sum(each.bytes for each in planned) - sum(closed_form(work, *work.whole).values()),
            # The map between them is neither output by the first layer nor read by the second.
            apart[first.name].streams["map_out"] + apart[second.name].streams["map_in"],
        )


def saves_most(pairs: Iterable[Fusable]) -> Fusable | None:
    """Return the pair that saves the most bytes of a training step; None without pairs."""
    return max(pairs, key=lambda each: each.saved, default=None)
