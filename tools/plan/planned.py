"""Plan what is asked for."""

from __future__ import annotations

from os import fspath

from merp.models.machines.cnn_merp.plan.planned import Plan as OnBoard
from merp.models.network.network import Network
from merp.tools.common.boards import open_board
from merp.tools.common.checks import with_backward
from merp.tools.common.fields import STATE
from merp.tools.plan.fit import Fitted, fitted_plan
from merp.tools.plan.fuse import fused_plan
from merp.tools.plan.request import GOAL, Plan


def planned(network: Network, asked: Plan) -> Fitted:
    """The plan that is asked for.

    Raises:
        BadInput: the board's part is too small, or no such layers can be fused.
    """
    network, board = with_backward(network, asked.backward), open_board(fspath(asked.board))
    state = asked.state_bits or STATE

    def on_board(each: Network, goal: str) -> OnBoard:
        return fused_plan(each, board, asked.batch, goal, state, apart=asked.apart, fuse=asked.fuse)

    return fitted_plan(network, asked.fit, asked.goal or GOAL, on_board)
