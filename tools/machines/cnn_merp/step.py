"""One training step, by the golden model or in the hardware."""

from __future__ import annotations

from merp.cosim.machines.cnn_merp.training.fused_layers import FusedLayers
from merp.cosim.machines.cnn_merp.training.planned_layers import PlannedLayers
from merp.cosim.machines.cnn_merp.training.whole_layers import WholeLayers
from merp.cosim.training.hardware_step import HardwareStep, Layers
from merp.models.machines.cnn_merp.plan.planned import NetworkPlan
from merp.models.network.network import Network
from merp.models.network.network_keys import COMBINED
from merp.tools.common.progress import Progress
from merp.tools.machines.usual.arithmetic import Step, golden_step, hardware_step
from merp.tools.train.course import Course


def step_of(course: Course, plan: NetworkPlan | None, images: int, progress: Progress) -> Step:
    """Return the runner of a step of ``images`` images: in the passes of a plan, or undivided.

    Raises:
        BadInput: the hardware of a layer does not support the images, or does not exist.
    """
    if course.engine == "golden":
        return golden_step(course, progress)
    layers = _layers(course.network, plan, images)
    if course.engine == "system" and isinstance(layers, WholeLayers):
        # It builds a board, which takes an extra.
        from merp.cosim.machines.cnn_merp.training.board_step import BoardStep

        board = BoardStep(layers, images, progress.begin, progress.update)
        return hardware_step(board, course, progress)
    hardware = HardwareStep(layers, course.engine, progress.begin, progress.update)
    return hardware_step(hardware, course, progress)


def _layers(network: Network, plan: NetworkPlan | None, images: int) -> Layers:
    """Return the layers in the hardware, in the passes of a plan or undivided."""
    if plan is not None:
        return PlannedLayers(plan)
    if network.backward == COMBINED:
        return FusedLayers(network, images)
    return WholeLayers(network, images)
