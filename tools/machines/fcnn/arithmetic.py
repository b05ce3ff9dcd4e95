"""Training of a network on F-CNN's modules, or in its golden model."""

from __future__ import annotations

from dataclasses import dataclass

from merp.cosim.machines.fcnn.in_modules import InModules
from merp.cosim.machines.training.hardware_step import HardwareStep
from merp.models.machines.fcnn.phases import design_of
from merp.models.machines.fcnn.runs import check_run
from merp.tools.common.progress import Progress
from merp.tools.machines.usual.arithmetic import (
    FloatArithmetic,
    FloatRunner,
    Step,
    hardware_step,
)
from merp.tools.train.course import Course
from merp.tools.train.in_passes import InPasses


@dataclass(frozen=True)
class FcnnArithmetic(FloatArithmetic):
    """The arithmetic of the modules. The host updates the kernels, by any rule."""

    def check(self, course: Course) -> None:
        """Refuse a board.

        Raises:
            BadInput: a board is given.
        """
        self.check_boards(course)

    def runner(
        self, course: Course, plan: InPasses | None, batch: int, progress: Progress
    ) -> FloatRunner:
        """Return the runner of a course's steps.

        Raises:
            BadInput: a design does not run the batch.
        """
        for layer in self.network.layers:
            where = f"{self.network.name}: {layer.name}"
            check_run(layer.shape, batch, design_of(self.network, layer), where)
        return super().runner(course, plan, batch, progress)

    def _hardware(self, course: Course, progress: Progress) -> Step:
        layers = InModules(course.network)
        hardware = HardwareStep(
            layers,
            course.engine,
            progress.begin,
            progress.update,
            accumulate=course.accumulate or 1,
        )
        return hardware_step(hardware, course, progress)
