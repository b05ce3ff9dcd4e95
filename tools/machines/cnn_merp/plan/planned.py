"""Plan a network on CNN-MERP as requested."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from os import fspath
from typing import Any

from merp.models.machines.cnn_merp.plan.planned import NetworkPlan as OnBoard
from merp.models.network.network import Network
from merp.tools.common.boards import open_board
from merp.tools.common.fields import STATE
from merp.tools.common.table import say
from merp.tools.machines.cnn_merp.plan.answer import network_file
from merp.tools.machines.cnn_merp.plan.fit import Fitted, faster_line, fitted_json, fitted_plan
from merp.tools.machines.cnn_merp.plan.fuse import fused_plan
from merp.tools.machines.cnn_merp.plan.tables import print_plan
from merp.tools.plan.request import BEST, GOAL, PlanFields


@dataclass(frozen=True)
class TiledPlan:
    """As ``tools.plan.planned.Planned``."""

    fitted: Fitted

    @property
    def plan(self) -> OnBoard:
        """Passes and engines, with their times and resources."""
        return self.fitted.plan

    @property
    def board(self) -> str:
        """Name of the board."""
        return self.plan.board.name

    @property
    def seconds(self) -> float:
        """Seconds of a training step, including bitstreams."""
        return self.plan.seconds

    @property
    def images_per_second(self) -> float:
        """Images per second in a training step."""
        return self.plan.images_per_second

    def answer(self) -> dict[str, Any]:
        """The machine-readable answer."""
        return fitted_json(self.fitted)

    def show(self, again: Callable[[str], Sequence[str]], *, details: bool) -> None:
        """Print the plan, and the command for the best designs if these are far faster."""
        print_plan(self.plan, details=details)
        if line := faster_line(self.fitted, again(BEST)):
            say(line)

    def file(self, name: str, tables: Mapping[str, Any]) -> str:
        """Return the text of the network file."""
        return network_file(self.plan, self.fitted.fit, name, tables)


def planned(network: Network, asked: PlanFields) -> TiledPlan:
    """Return the requested plan of a network on CNN-MERP.

    Raises:
        BadInput: the board's part is too small, or the named layers cannot be fused.
    """
    board, state = open_board(fspath(asked.board)), asked.state_bits or STATE

    def on_board(each: Network, goal: str) -> OnBoard:
        return fused_plan(
            each,
            board,
            asked.batch,
            goal,
            state,
            apart=asked.apart,
            layer_fusion=asked.layer_fusion,
        )

    return TiledPlan(fitted_plan(network, asked.fit, asked.goal or GOAL, on_board))
