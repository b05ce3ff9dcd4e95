"""A plan on the designs of the file or on the best designs, and the speed of the best designs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from merp.models.machines.cnn_merp.plan.fit import Planner, faster, quickest
from merp.models.machines.cnn_merp.plan.planned import NetworkPlan
from merp.models.network.network import Network
from merp.models.network.planning import SHIPPED
from merp.tools.common.table import fixed
from merp.tools.machines.cnn_merp.plan.answer import plan_json


class Fitted(NamedTuple):
    """A plan, and the origin of its designs.

    Attributes:
        plan: the requested plan.
        fit: one of ``FITS``.
        faster: a plan on the best designs, if the file's designs are far slower; else None.
    """

    plan: NetworkPlan
    fit: str
    faster: NetworkPlan | None


def fitted_plan(network: Network, fit: str, goal: str, planned: Planner) -> Fitted:
    """Plan a network on the designs that ``fit`` names.

    Raises:
        BadInput: as in ``planned``.
    """
    found = quickest(network, fit, [goal], planned, lambda each: each.seconds)
    return Fitted(found, fit, faster(network, found, planned) if fit == SHIPPED else None)


def fitted_json(fitted: Fitted) -> dict[str, Any]:
    """Return the machine-readable answer: plan, origin of its designs, time of the best designs."""
    best, better = fitted.faster, None
    if best is not None:
        better = {"seconds": best.seconds, "images_per_second": best.images_per_second}
    return plan_json(fitted.plan) | {"fit": fitted.fit, "faster": better}


def faster_line(fitted: Fitted, command: Sequence[str]) -> str:
    """Return the time of the best designs, and the command for their plan; empty if not faster."""
    best = fitted.faster
    if best is None:
        return ""
    less, images = 1 - best.seconds / fitted.plan.seconds, fixed(best.images_per_second, 1)
    return (
        f"Designs sized for this part take {100 * less:.0f} % less time: "
        f"{fixed(best.seconds, 3)} s a step, {images} images a second: {' '.join(command)}"
    )
