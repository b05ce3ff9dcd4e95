"""One training step, by the golden model or in the hardware."""

from __future__ import annotations

from merp.cosim.machines.cnn_merp.chain.peers import Peers
from merp.cosim.machines.cnn_merp.chain.processes import Processes
from merp.cosim.machines.cnn_merp.chain.ranks import ranks
from merp.cosim.machines.cnn_merp.chain.step import ClusterStep
from merp.cosim.machines.cnn_merp.pipeline.step import PipelineStep
from merp.cosim.machines.cnn_merp.training.fused_layers import FusedLayers
from merp.cosim.machines.cnn_merp.training.planned_layers import PlannedLayers
from merp.cosim.machines.cnn_merp.training.whole_layers import WholeLayers
from merp.cosim.training.hardware_step import HardwareStep, Layers
from merp.models.machines.cnn_merp.plan.planned import Plan
from merp.models.network.network import Network
from merp.models.network.network_keys import FUSED
from merp.tools.common.progress import Progress
from merp.tools.machines.usual.arithmetic import Step, golden_step, hardware_step
from merp.tools.train.course import AtOnce, Course
from merp.tools.train.names import MPI


def step_of(course: Course, plan: Plan | None, images: int, progress: Progress) -> Step:
    """What runs a step of so many images: in the passes of a plan, or layers in one piece.

    Raises:
        BadInput: the hardware of a layer does not take them, or there is none.
    """
    if course.engine == "golden":
        return golden_step(course, progress)
    told = progress.begin, progress.update
    hardware: HardwareStep | PipelineStep | ClusterStep
    network, engine, at_once = course.network, course.engine, course.at_once
    if at_once is None:
        hardware = HardwareStep(_layers(network, plan, images), engine, *told)
    elif at_once.devices is None:
        hardware = PipelineStep(network, images, at_once.depth, engine, *told)
    else:
        hardware = ClusterStep(
            network, images, at_once.depth, engine, *told,
            devices=at_once.devices, pace=at_once.pace,
            peers=_peers(at_once),
        )  # fmt: skip

    return hardware_step(hardware, course, progress)


def _peers(at_once: AtOnce) -> Peers | None:
    """Who simulate the boards of a chain apart, if they do."""
    if at_once.apart == MPI:
        ranks().wait_for(at_once.patience)
        return ranks()
    return None if at_once.apart is None else Processes(at_once.patience)


def _layers(network: Network, plan: Plan | None, images: int) -> Layers:
    """The layers in the hardware, in the passes of a plan or in one piece."""
    if plan is not None:
        return PlannedLayers(plan)
    if network.backward == FUSED:
        return FusedLayers(network, images)
    return WholeLayers(network, images)
