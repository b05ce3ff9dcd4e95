"""Training on CNN-MERP, also in the passes of a plan."""

from __future__ import annotations

from dataclasses import dataclass

from merp.tools.common.progress import Progress
from merp.tools.machines.cnn_merp.in_passes import PlannedStep
from merp.tools.machines.cnn_merp.step import runner_of
from merp.tools.machines.usual import arithmetic
from merp.tools.machines.usual.arithmetic import FloatRunner
from merp.tools.train.course import Course
from merp.tools.train.in_passes import InPasses


@dataclass(frozen=True)
class EngineArithmetic(arithmetic.FloatArithmetic):
    """Arithmetic of a floating-point network on CNN-MERP, or without designs."""

    def check(self, course: Course) -> None:
        """Accept every course, because CNN-MERP supports all phases."""

    def runner(
        self, course: Course, plan: InPasses | None, batch: int, progress: Progress
    ) -> FloatRunner:
        """Return the runner of a course's steps."""
        planned = plan.plan if isinstance(plan, PlannedStep) else None
        return runner_of(course, planned, batch, progress)
