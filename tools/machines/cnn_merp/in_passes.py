"""A training step on CNN-MERP in the passes of a plan."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from merp.cosim.machines.cnn_merp.passes.of_plan import OfPlan
from merp.cosim.machines.training.hardware_step import Audits
from merp.models.base.rates import PLAIN, UpdateRule
from merp.models.fpga.board import Board
from merp.models.machines.cnn_merp.plan.plan import plan
from merp.models.machines.cnn_merp.plan.planned import NetworkPlan
from merp.models.machines.cnn_merp.reconfiguration import UPDATING
from merp.models.network.network import Layer, Network
from merp.models.network.phases import counted_as
from merp.models.network.planning import GOALS


@dataclass(frozen=True)
class PlannedStep:
    """A training step in the passes of a plan on a board.

    It implements ``tools.train.in_passes.InPasses``.
    """

    plan: NetworkPlan

    @property
    def network(self) -> Network:
        """The network on the designs of the plan."""
        return self.plan.network

    @property
    def board(self) -> str:
        """Name of the board."""
        return self.plan.board.name

    @property
    def goal(self) -> str:
        """The goal of the choice of tiles."""
        return self.plan.goal

    @property
    def passes(self) -> int:
        """Number of passes of a step."""
        return sum(planned.passes for planned in self.plan.layers)

    def apart(self, layers: Iterable[Layer]) -> Iterator[str]:
        """Yield each layer with separate backward phases, with its phases and the reason."""
        return self.plan.apart(layers)

    def bytes(self, rule: UpdateRule) -> Mapping[str, int]:
        """Return the bytes from the plan's closed form."""
        moved = Counter[str]()
        for each in self._layers(rule):
            planned = each.planned
            moved[counted_as(planned.work.phase)] += planned.bytes
            moved["momentum"] += sum(each.ports.values()) - planned.bytes
        return moved

    def runs(self, rule: UpdateRule, audits: Audits) -> list[dict[str, Any]]:
        """Return the bytes of each port by layer and phase, from the plan and on the pins."""
        return [_run(each, audits) for each in self._layers(rule)]

    def _layers(self, rule: UpdateRule) -> Iterator[OfPlan]:
        for each in self.plan.layers:
            yield OfPlan(each, rule if each.work.phase in UPDATING else PLAIN)


def _run(of: OfPlan, audits: Audits) -> dict[str, Any]:
    planned = of.planned
    phase = planned.work.phase
    audit = audits.get((planned.work.layer.name, phase))
    return {
        "layer": planned.work.name,
        "phase": phase,
        "input_parts": planned.in_parts,
        "output_parts": planned.out_parts,
        "passes": planned.passes,
        "bytes": {
            port: {
                "plan": count,
                "pins": None if audit is None else audit.moved.get(port, 0),
                "measured": audit is not None,  # a step with a difference gives no answer
            }
            for port, count in of.ports.items()
        },
    }


def in_passes(
    network: Network, board: Board, batch: int, goal: str | None, state: str, apart: bool
) -> PlannedStep:
    """Plan a training step in passes on a board (a ``tools.train.in_passes.Planner``).

    Raises:
        BadInput: the part is too small.
    """
    return PlannedStep(plan(network, board, batch, goal or GOALS[0], state, apart))
