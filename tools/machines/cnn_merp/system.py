"""The plan of a training step from memory: the part ``system`` of the machine."""

from __future__ import annotations

from merp.cosim.board.step_plan import StepPlan
from merp.cosim.machines.cnn_merp.training.step_plan import step_plan, usual_rates
from merp.cosim.machines.cnn_merp.training.whole_layers import WholeLayers
from merp.models.base.rates import UpdateRule
from merp.models.network.network import Network


def planned(network: Network, images: int, *, momentum: bool) -> StepPlan:
    """Return the plan of a step of undivided layers, with the usual rates.

    Raises:
        BadInput: a layer has no design, or a pass cannot read its words from memory.
    """
    rates = usual_rates(UpdateRule(momentum, weight_decay=False), images, network.fmt)
    return step_plan(WholeLayers(network, images), images, rates)
