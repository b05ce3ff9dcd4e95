"""Training with all layers and phases at once: in the hardware alone."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from merp.cosim.machines.cnn_merp.at_once.step import StepAtOnce
from merp.cosim.training.hardware_step import StepOutcome, WholeStep
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
    """Steps of a course; the answer has what the last one was as a whole.

    Attributes:
        of: whose steps they are. last: what came of the last step; empty before any.
    """

    of: AtOnceArithmetic
    last: list[StepOutcome] = field(default_factory=list)

    def step(self, model: Model, images: Bits, labels: Labels, place: Place) -> StepOutcome:
        """Run one step."""
        self.last[:] = [super().step(model, images, labels, place)]
        return self.last[0]

    def answer(self) -> dict[str, Any]:
        """The last step as one run: cycles, images on their way, and cycles of every engine."""
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
    """Of a network in floats whose layers and phases all run at once."""

    def check(self, course: Course) -> None:
        """Refuse networks of other machines than the one whose designs this one runs."""
        machine = machine_that_runs(self.network).name
        if machine != course.machine.runs:
            fixed = isinstance(self.network.numbers, FixedFormat)
            what = "is in fixed point" if fixed else f"runs on {machine}"
            raise BadInput(
                f"{name_of('architecture')}: {self.network.name} {what}: allowed without"
            )

    def runner(
        self, course: Course, plan: InPasses | None, batch: int, progress: Progress
    ) -> AtOnceRunner:
        """What runs the steps of a course."""
        run = hardware_step(self.hardware(course, batch, progress), course, progress)
        return AtOnceRunner(course, batch, run, self)

    @abstractmethod
    def hardware(self, course: Course, images: int, progress: Progress) -> StepAtOnce[Any]:
        """What runs a step of so many images.

        Raises:
            BadInput: it does not take them, or has no place for a layer.
        """

    @abstractmethod
    def said(self, course: Course, images: int, whole: WholeStep) -> Mapping[str, Any]:
        """What was asked of the machine, ``modelled`` cycles, and what it alone counts."""
