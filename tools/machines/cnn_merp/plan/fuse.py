"""Select the two layers that a plan fuses: from the network, from the request, or the best pair."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from merp.models.base.errors import BadInput
from merp.models.base.given import given
from merp.models.fpga.board import Board
from merp.models.machines.cnn_merp.plan.fusable import fusable, saves_most
from merp.models.machines.cnn_merp.plan.plan import plan
from merp.models.machines.cnn_merp.plan.planned import NetworkPlan
from merp.models.network.network import Network
from merp.models.network.phases import pair_named
from merp.tools.plan.request import BEST, NONE


def fused_plan(
    network: Network,
    board: Board,
    batch: int,
    goal: str,
    state: str,
    *,
    apart: bool,
    layer_fusion: str | None,
) -> NetworkPlan:
    """Return the network's plan with the fusion that ``layer_fusion`` names.

    If it is None, the plan fuses the layers that the network names.

    Raises:
        BadInput: as in ``plan``, or the layers do not exist.
    """
    on_board = partial(plan, board=board, batch=batch, goal=goal, state=state, apart=apart)
    if layer_fusion is None:
        return on_board(network)
    pair = pair_named(network, layer_fusion)
    if not pair and layer_fusion not in (BEST, NONE):
        raise BadInput(
            f"{given('layer_fusion', layer_fusion)}: allowed are {BEST}, {NONE}, or two of the "
            f"layers {', '.join(layer.name for layer in network.layers)}, as conv1+conv2"
        )
    found = on_board(replace(network, layer_fusion=pair))
    best = saves_most(fusable(found)) if layer_fusion == BEST else None
    return found if best is None else on_board(replace(network, layer_fusion=best.names))
