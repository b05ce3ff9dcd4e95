"""Plan what is asked for, on CNN-MERP."""

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
        """Passes, engines and what they take."""
        return self.fitted.plan

    @property
    def board(self) -> str:
        """Its name."""
        return self.plan.board.name

    @property
    def seconds(self) -> float:
        """Of a training step, with its bitstreams."""
        return self.plan.seconds

    @property
    def images_per_second(self) -> float:
        """Of the same."""
        return self.plan.images_per_second

    def answer(self) -> dict[str, Any]:
        """The answer for machines."""
        return fitted_json(self.fitted)

    def show(self, again: Callable[[str], Sequence[str]]) -> None:
        """Print it, and the command for the best designs where these are far faster."""
        print_plan(self.plan)
        if line := faster_line(self.fitted, again(BEST)):
            say(line)

    def file(self, name: str, tables: Mapping[str, Any]) -> str:
        """The text of the network file."""
        return network_file(self.plan, self.fitted.fit, name, tables)


def planned(network: Network, asked: PlanFields) -> TiledPlan:
    """As ``tools.plan.planned.planned``.

    Raises:
        BadInput: the board's part is too small, or no such layers can be fused.
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
