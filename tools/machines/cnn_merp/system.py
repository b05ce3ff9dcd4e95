"""The plan of a training step from memory: the part ``system`` of the machine."""

from __future__ import annotations

from merp.cosim.board.step_plan import StepPlan
from merp.cosim.machines.cnn_merp.training.step_plan import step_plan
from merp.cosim.machines.cnn_merp.training.whole_layers import WholeLayers
from merp.models.golden.training import RATE, rates_of
from merp.models.network.network import Network

MOMENTUM = 0.9


def planned(network: Network, images: int, *, momentum: bool) -> StepPlan:
    """Return the plan of a step of undivided layers, with the usual rates.

    Raises:
        BadInput: a layer has no design, or a pass cannot read its words from memory.
    """
    rates = rates_of(RATE, images, network.fmt, momentum=MOMENTUM if momentum else 0.0)
    return step_plan(WholeLayers(network, images), images, rates)
