"""Training steps, by the golden model or in the hardware."""

from __future__ import annotations

from merp.cosim.machines.cnn_merp.training.fused_layers import FusedLayers
from merp.cosim.machines.cnn_merp.training.planned_layers import PlannedLayers
from merp.cosim.machines.cnn_merp.training.whole_layers import WholeLayers
from merp.cosim.machines.training.hardware_step import HardwareStep, Layers
from merp.models.base.errors import BadInput
from merp.models.fpga.board import Board
from merp.models.machines.cnn_merp.plan.planned import NetworkPlan
from merp.models.memory.bus_record import MemoryFacts
from merp.models.network.branches import all_expand
from merp.models.network.network import Network
from merp.models.network.network_keys import COMBINED
from merp.models.network.phases import phases_on
from merp.tools.common.board_memory import check_tops, memory_on
from merp.tools.common.progress import Progress
from merp.tools.machines.usual.arithmetic import FloatRunner, golden_step, hardware_step
from merp.tools.train.course import Course
from merp.tools.train.names import ring_per_pass


def runner_of(
    course: Course, plan: NetworkPlan | None, images: int, progress: Progress
) -> FloatRunner:
    """Return the runner of steps of ``images`` images: in the passes of a plan, or undivided.

    Raises:
        BadInput: the hardware of a layer does not support the images, or does not exist.
    """
    if course.engine == "golden":
        return FloatRunner(course, images, golden_step(course, progress))
    layers = _layers(course.network, plan, images)
    if course.engine == "system":
        return _on_board(course, layers, images, progress)
    hardware = HardwareStep(layers, course.engine, progress.begin, progress.update)
    return FloatRunner(course, images, hardware_step(hardware, course, progress))


def _on_board(course: Course, layers: Layers, images: int, progress: Progress) -> FloatRunner:
    """Return the runner of steps whose arrays stay in memory, otherwise of single passes."""
    # It builds a board, which takes an extra.
    from merp.cosim.machines.cnn_merp.training.board_step import BoardStep

    try:
        board = BoardStep(layers, images, course.rule, progress.begin, progress.update, course.on)
    except BadInput as error:
        if course.on is not None:
            raise
        memory = None if course.target is None else _memory(course, course.target.board, layers)
        hardware = HardwareStep(layers, course.engine, progress.begin, progress.update, memory)
        run = hardware_step(hardware, course, progress)
        return FloatRunner(course, images, run, on_board=ring_per_pass(error))
    run = hardware_step(board, course, progress)
    return FloatRunner(course, images, run, on_board=board.on_board, bus=board.bus)


def _memory(course: Course, board: Board, layers: Layers) -> MemoryFacts | None:
    """Return the memory of a board, which holds a word of each stream of a step.

    Raises:
        BadInput: there is no such memory.
    """
    memory = memory_on(board, course.engine)
    network = layers.network
    order = layers.order({each for layer in network.layers for each in phases_on(network, layer)})
    tops = (layers.top(layer, phase, "rtl", rule=course.rule) for layer, phase in order)
    check_tops(memory, tops)
    return memory


def _layers(network: Network, plan: NetworkPlan | None, images: int) -> Layers:
    """Return the layers in the hardware, in the passes of a plan or undivided."""
    if plan is not None:
        return PlannedLayers(plan)
    if network.backward == COMBINED or not all_expand(network):
        return FusedLayers(network, images)
    return WholeLayers(network, images)
