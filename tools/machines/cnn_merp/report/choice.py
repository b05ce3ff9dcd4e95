"""The inputs of a report of CNN-MERP."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from merp.models.base.errors import BadInput
from merp.models.machines.cnn_merp.cycle_causes import Cycles
from merp.models.machines.cnn_merp.cycles import network_cycles
from merp.models.machines.cnn_merp.fused_pair import pairs_that_fit
from merp.models.machines.cnn_merp.plan.plan import plan
from merp.models.machines.cnn_merp.plan.planned import NetworkPlan, PlannedPhase
from merp.models.network.network import Layer
from merp.models.traffic.closed_form import LayerTraffic
from merp.models.traffic.count import Count
from merp.tools.machines.cnn_merp.report.tiles import TileRecord
from merp.tools.report.choice import ReportChoice


@dataclass(frozen=True, kw_only=True)
class PlannedChoice(ReportChoice):
    """A report's network, with its plan on the board, and the cycles of its designs.

    Attributes:
        tiles: findings of simulations of a plan's passes.
    """

    tiles: Sequence[TileRecord] = ()

    @cached_property
    def pair(self) -> tuple[str, ...]:
        """The two fusable layers that save most and fit the part; empty if there are none."""
        found = [(one, other) for one, other, _ in pairs_that_fit(self.network, self.part)]
        best = max(found, key=lambda pair: pair[0].outputs, default=())
        return tuple(layer.name for layer in best)

    @cached_property
    def plan(self) -> NetworkPlan | BadInput:
        """Passes that fit the board, with deltas at pooled resolution.

        Or the reason for their absence.
        """
        try:
            return plan(self.network, self.board, self.batch)
        except BadInput as error:
            return error

    def shown(self, planned: PlannedPhase) -> bool:
        """Return whether simulations counted the bytes of all passes on the pins."""
        return any(record.shows(planned) for record in self.tiles)

    def moved(self, figures: LayerTraffic, phase: str, count: Count) -> bool:
        """Return the result of ``Choice.moved``.

        For the count ``board`` in the passes of the plan.
        """
        if count.name != "board":
            return super().moved(figures, phase, count)
        assert not isinstance(self.plan, BadInput)
        return any(
            self.shown(each)
            for each in self.plan.layers
            if (each.work.layer.name, each.work.phase) == (figures.layer.name, phase)
        )

    @property
    def confirms(self) -> bool:
        """Return the result of ``Choice.confirms``, including passes of a plan."""
        return super().confirms and all(each.confirms for each in self.tiles)

    @cached_property
    def cycles(self) -> list[tuple[Layer, str, Cycles]]:
        """Return layer, phase and cycles of everything that runs on a design."""
        return list(network_cycles(self.network, self.batch))
