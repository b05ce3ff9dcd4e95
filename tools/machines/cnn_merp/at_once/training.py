"""Training with all layers and phases concurrently, only in the hardware."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from merp.cosim.machines.cnn_merp.at_once.step import StepAtOnce
from merp.cosim.machines.training.hardware_step import StepOutcome, WholeStep
from merp.models.base.bits import Bits
from merp.models.base.counters import STALLS
from merp.models.base.errors import BadInput
from merp.models.base.fixed import FixedFormat
from merp.models.base.given import name_of
from merp.models.golden.loss import Labels
from merp.models.golden.training import Model
from merp.models.network.registry import machine_that_runs
from merp.tools.common.progress import Progress
from merp.tools.machines.cnn_merp.at_once.trained import KEY
from merp.tools.machines.usual.arithmetic import FloatArithmetic, FloatRunner, hardware_step
from merp.tools.train.course import Course
from merp.tools.train.in_passes import InPasses
from merp.tools.train.place import Place


@dataclass(frozen=True)
class AtOnceRunner(FloatRunner):
    """Steps of a course. The answer includes the last step as a whole.

    Attributes:
        of: the arithmetic of the steps.
        last: result of the last step; empty before the first.
    """

    of: AtOnceArithmetic
    last: list[StepOutcome] = field(default_factory=list)

    def step(self, model: Model, images: Bits, labels: Labels, place: Place) -> StepOutcome:
        """Run one step."""
        self.last[:] = [super().step(model, images, labels, place)]
        return self.last[0]

    def answer(self) -> dict[str, Any]:
        """Return the last step as one run: cycles, images in flight, and cycles of every engine."""
        if not self.last:
            return {}
        (last,) = self.last
        assert last.whole is not None
        engines = [
            {
                "layer": layer,
                "phase": phase,
                **{name: audit.cycles[name] for name in ("total", "kernel_load", "issue")},
                "stall": {cause: audit.cycles[f"stall_{cause}"] for cause in STALLS},
            }
            for (layer, phase), audit in last.audits.items()
        ]
        said = self.of.said(self.course, self.batch, last.whole)
        whole = {"in_flight": last.whole.in_flight, "cycles": last.whole.cycles}
        return {KEY: {"depth": said["depth"], **whole, **said, "engines": engines}}


@dataclass(frozen=True)
class AtOnceArithmetic(FloatArithmetic, ABC):
    """Arithmetic of a floating-point network whose layers and phases run concurrently."""

    def check(self, course: Course) -> None:
        """Refuse networks with designs of a machine that this machine does not run."""
        machine = machine_that_runs(self.network).name
        if machine != course.machine.runs:
            fixed = isinstance(self.network.numbers, FixedFormat)
            what = "is in fixed point" if fixed else f"runs on {machine}"
            raise BadInput(f"{name_of('architecture')}: {self.network.name} {what}: omit it")

    def runner(
        self, course: Course, plan: InPasses | None, batch: int, progress: Progress
    ) -> AtOnceRunner:
        """Return the runner of a course's steps."""
        run = hardware_step(self.hardware(course, batch, progress), course, progress)
        return AtOnceRunner(course, batch, run, self)

    @abstractmethod
    def hardware(self, course: Course, images: int, progress: Progress) -> StepAtOnce[Any]:
        """Return the hardware for a step of ``images`` images.

        Raises:
            BadInput: the hardware does not support the images or a layer.
        """

    @abstractmethod
    def said(self, course: Course, images: int, whole: WholeStep) -> Mapping[str, Any]:
        """Return the machine's settings, ``modelled`` cycles, and its own counts."""
